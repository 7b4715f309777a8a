import type { Json } from '@fms/aip'
import type { BreakingChange } from '@fms/contracts'
import { compareElements, type IdOf, isMatchable } from './compare-elements.ts'
import { type Compare, compareMembers, compareValues, type Difference, isObject } from './compare-values.ts'

/** Compares the steps of two drafts by key, and each step in detail. */
export const compareSteps: Compare = (before, after, place) => stepsWith(compareStep)(before, after, place)

/** Compares the steps of two drafts by key, and each step as a whole. */
export const compareWholeSteps: Compare = (before, after, place) =>
  stepsWith(compareWholeStep)(before, after, place)

const stepsWith =
  (compareEach: Compare): Compare =>
  (before, after, place) =>
    isMatchable(before, keyOf) && isMatchable(after, keyOf)
      ? compareElements(before, after, place, keyOf, compareEach)
      : compareValues(before, after, place)

const keyOf: IdOf = (step) => (isObject(step) && typeof step.key === 'string' ? step.key : undefined)

/** Compares two steps of one key. Only changes of questions are breaking: other steps have no answers. */
const compareStep: Compare = function* (before, after, place) {
  for (const difference of everyDifference(before, after, place)) {
    if (isQuestion(before)) yield difference
    else yield withoutBreaking(difference)
  }
}

const everyDifference: Compare = function* (before, after, place) {
  if (isObject(before) && isObject(after)) yield* compareMembers(before, after, place, compareMemberOfStep)
  else yield* breaking('STEP_REMOVED', compareValues(before, after, place))
}

const compareMemberOfStep = (name: string): Compare => {
  if (name === 'type') return (...values) => breaking('STEP_TYPE_CHANGED', compareValues(...values))
  return name === 'options' ? compareOptions : compareValues
}

/** Marks the differences in which a value is removed or changed. */
function* breaking(change: BreakingChange, differences: Iterable<Difference>): Generator<Difference> {
  for (const difference of differences) {
    yield difference.before === undefined ? difference : { ...difference, breaking: change }
  }
}

/** Options that cannot be matched are compared as a whole: then any change may have removed one. */
const compareOptions: Compare = (before, after, place) => {
  if (!isMatchable(before, optionId) || !isMatchable(after, optionId)) {
    const differences = compareValues(before, after, place)
    return Array.isArray(before) && before.length > 0 ? breaking('OPTION_REMOVED', differences) : differences
  }
  const remaining = new Set(after.map(optionId))
  const compareOption: Compare = (former, later, at) => {
    const differences = compareValues(former, later, at)
    const isRemoved = former !== undefined && !remaining.has(optionId(former))
    return isRemoved ? breaking('OPTION_REMOVED', differences) : differences
  }
  return compareElements(before, after, place, optionId, compareOption)
}

/** A text is its own id; an object has `key`, `id` or `value`, the first that is a text or a number. */
const optionId: IdOf = (option) => {
  if (typeof option === 'string') return `text ${option}`
  if (!isObject(option)) return undefined
  for (const name of ['key', 'id', 'value']) {
    const id = Object.hasOwn(option, name) ? option[name] : undefined
    if (typeof id === 'string' || typeof id === 'number') return `${name} ${JSON.stringify(id)}`
  }
  return undefined
}

const isQuestion = (step: Json | undefined): boolean =>
  isObject(step) && step.type !== 'start' && step.type !== 'end'

const withoutBreaking = ({ breaking: _, ...difference }: Difference): Difference => difference

/** One difference for all those of a step; its `breaking` is that of the type, or else of an option. */
const compareWholeStep: Compare = function* (before, after, place) {
  const differences = [...compareStep(before, after, place)]
  if (before === undefined || after === undefined || differences.length === 0) {
    yield* differences
    return
  }
  const kinds = new Set(differences.map((difference) => difference.breaking))
  const breaking = (['STEP_TYPE_CHANGED', 'OPTION_REMOVED'] as const).find((kind) => kinds.has(kind))
  yield { kind: 'CHANGED', ...place, before, after, ...(breaking && { breaking }) }
}
