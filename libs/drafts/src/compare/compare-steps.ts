import { isObject, type Json } from '@fms/aip'
import type { BreakingChange } from '@fms/contracts'
import { isQuestion } from '../is-question.ts'
import { compareElements, identify } from './compare-elements.ts'
import {
  below,
  type Compare,
  compareMembers,
  compareValues,
  type Difference,
  memberOf,
} from './compare-values.ts'

/** The breaking differences of {@link compareSteps}, found without the others. */
export const compareQuestions: Compare = function* (before, after, place) {
  for (const difference of stepsWith(compareQuestion)(before, after, place))
    if (difference.breaking) yield difference
}

const stepsWith =
  (compareEach: Compare): Compare =>
  (before, after, place) => {
    const [former, later] = [identify(before, keyOf), identify(after, keyOf)]
    return former && later
      ? compareElements(former, later, place, compareEach)
      : compareValues(before, after, place)
  }

const keyOf = (step: Json) => (isObject(step) && typeof step.key === 'string' ? step.key : undefined)

/** Compares two steps of one key. Only changes of questions are breaking: other steps have no answers. */
const compareStep: Compare = function* (before, after, place) {
  for (const difference of everyDifference(before, after, place)) {
    if (isObject(before) && isQuestion(before)) yield difference
    else yield withoutBreaking(difference)
  }
}

const everyDifference: Compare = function* (before, after, place) {
  if (isObject(before) && isObject(after)) yield* compareMembers(before, after, place, compareMemberOfStep)
  else yield* markBreaking('STEP_REMOVED', compareValues(before, after, place))
}

const compareMemberOfStep = (name: string): Compare => {
  if (name === 'type') return (...values) => markBreaking('STEP_TYPE_CHANGED', compareValues(...values))
  return name === 'options' ? compareOptions : compareValues
}

/** Marks the differences in which a value is removed or changed. */
function* markBreaking(change: BreakingChange, differences: Iterable<Difference>): Generator<Difference> {
  for (const difference of differences) {
    yield difference.before === undefined ? difference : { ...difference, breaking: change }
  }
}

/** Options that cannot be matched are compared as a whole: then any change may have removed one. */
const compareOptions: Compare = (before, after, place) => {
  const [former, later] = [identify(before, optionId), identify(after, optionId)]
  if (!former || !later) {
    const differences = compareValues(before, after, place)
    return Array.isArray(before) && before.length > 0
      ? markBreaking('OPTION_REMOVED', differences)
      : differences
  }
  const remaining = new Set(later.ids)
  return compareElements(former, later, place, (option, laterOption, at) => {
    const differences = compareValues(option, laterOption, at)
    const isRemoved = laterOption === undefined && !remaining.has(optionId(option!)!)
    return isRemoved ? markBreaking('OPTION_REMOVED', differences) : differences
  })
}

const compareQuestion: Compare = function* (before, after, place) {
  if (!isObject(before) || !isObject(after)) {
    yield* compareStep(before, after, place)
  } else if (isQuestion(before)) {
    const at = (name: string) =>
      [memberOf(before, name), memberOf(after, name), below(place, name, name)] as const
    yield* compareRemovedOptions(...at('options'))
    yield* compareMemberOfStep('type')(...at('type'))
  }
}

/** The breaking differences of {@link compareOptions}, in linear time. */
const compareRemovedOptions: Compare = function* (before, after, place) {
  const [former, later] = [identify(before, optionId), identify(after, optionId)]
  if (!former || !later) {
    if (before !== undefined) yield* compareOptions(before, after, place)
    return
  }
  const remaining = new Set(later.ids)
  for (const [index, id] of former.ids.entries()) {
    const removed = () => compareValues(former.elements[index], undefined, below(place, index, index))
    if (!remaining.has(id)) yield* markBreaking('OPTION_REMOVED', removed())
  }
}

/** Begins the ids of objects. A lone surrogate, which no text of a form contains: the API rejects it. */
const objectPrefix = '\ud800'

/** A text is its own id; an object has `key`, `id` or `value`, the first that is a text or a number. */
const optionId = (option: Json): string | undefined => {
  if (typeof option === 'string') return option
  if (!isObject(option)) return undefined
  for (const name of ['key', 'id', 'value']) {
    const id = Object.hasOwn(option, name) ? option[name] : undefined
    if (typeof id === 'string' || typeof id === 'number')
      return `${objectPrefix}${name} ${JSON.stringify(id)}`
  }
  return undefined
}

const withoutBreaking = ({ breaking: _, ...difference }: Difference): Difference => difference

/** One difference for all those of a step; its `breaking` is that of the type, or else that of an option. */
const compareWholeStep: Compare = function* (before, after, place) {
  if (before === undefined || after === undefined) {
    yield* compareStep(before, after, place)
    return
  }
  const kinds = new Set<BreakingChange | undefined>()
  for (const difference of compareStep(before, after, place)) kinds.add(difference.breaking)
  const breaking = (['STEP_TYPE_CHANGED', 'OPTION_REMOVED'] as const).find((kind) => kinds.has(kind))
  if (kinds.size > 0) yield { kind: 'CHANGED', ...place, before, after, ...(breaking && { breaking }) }
}

/** Compares the steps of two drafts by key, and each step in detail. */
export const compareSteps = stepsWith(compareStep)

/** Compares the steps of two drafts by key, and each step as a whole. */
export const compareWholeSteps = stepsWith(compareWholeStep)
