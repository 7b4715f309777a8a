import { didYouMean, type JsonObject, suggestion, toFieldViolations } from '@fms/aip'
import {
  catalogueSteps,
  type FormDraft,
  type FormWarning,
  type StepMember,
  type StepType,
  stepTypes,
} from '@fms/contracts'
import { namesOfOption } from './names-of-option.ts'
import { shown, warning } from './warning.ts'

const types: Readonly<Record<string, StepType>> = stepTypes
const typeOfName = new Map(
  Object.entries(types).flatMap(([type, { aliases }]) => [type, ...aliases].map((name) => [name, type])),
)

/** What the catalogue says about the types and members of steps. */
export function* stepWarnings({ steps }: FormDraft): Iterable<FormWarning> {
  for (const [index, step] of steps.entries()) {
    const isKnown = Object.hasOwn(types, step.type)
    const meant = isKnown ? step.type : typeOfName.get(didYouMean(step.type, typeOfName.keys()) ?? '')
    if (!isKnown) {
      const message = `${shown(step.type)} is not in the catalogue${suggestion(meant)}`
      yield warning(['steps', index, 'type'], 'TYPE_UNKNOWN', message)
    }
    const type = meant === undefined ? undefined : types[meant]
    if (type) yield* memberWarnings(['steps', index], { ...step, type: meant } as JsonObject, type)
  }
}

function* memberWarnings(
  path: PropertyKey[],
  step: JsonObject,
  { members }: StepType,
): Iterable<FormWarning> {
  const names = ['type', 'key', ...Object.keys(members)]
  for (const name of Object.keys(step)) {
    if (!names.includes(name)) {
      const message = `is not a member of ${step.type} steps${suggestion(didYouMean(name, names))}`
      yield warning([...path, name], 'MEMBER_UNKNOWN', message)
    }
  }
  for (const [name, member] of Object.entries(members) as [string, StepMember][]) {
    if (member.expected && isEmpty(step[name])) {
      yield warning([...path, name], 'MEMBER_MISSING', `is missing: ${member.meaning}`)
    }
  }
  yield* valueWarnings(path, step)
  yield* optionWarnings(path, step, members)
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0)

/** Values that the schema of the type would refuse. */
function* valueWarnings(path: PropertyKey[], step: JsonObject): Iterable<FormWarning> {
  const { error } = catalogueSteps.get(String(step.type))?.safeParse(step) ?? {}
  const issues = error?.issues.filter(({ code }) => code !== 'unrecognized_keys') ?? []
  for (const { field, description } of toFieldViolations({ issues } as never, 'form', ...path)) {
    yield { field, reason: 'MEMBER_INVALID', message: description }
  }
  const { min, max, minLength, maxLength } = step
  if (isAbove(min, max)) yield warning([...path, 'min'], 'MEMBER_INVALID', 'must not be above max')
  if (isAbove(minLength, maxLength)) {
    yield warning([...path, 'minLength'], 'MEMBER_INVALID', 'must not be above maxLength')
  }
}

const isAbove = (low: unknown, high: unknown): boolean =>
  (typeof low === 'number' && typeof high === 'number' && low > high) ||
  (typeof low === 'string' && typeof high === 'string' && low > high)

/** Options that are blank, or that an earlier one repeats. */
function* optionWarnings(
  path: PropertyKey[],
  { options }: JsonObject,
  members: StepType['members'],
): Iterable<FormWarning> {
  if (!('options' in members) || !Array.isArray(options)) return
  const firstOf = new Map<string, number>()
  for (const [index, option] of options.entries()) {
    const names = namesOfOption(option)
    if (!names) continue
    const { label, answer } = names
    const at = [...path, 'options', index]
    const first = firstOf.get(answer)
    if (label.trim() === '') yield warning(at, 'OPTION_BLANK', 'has no text')
    else if (first !== undefined) {
      yield warning(at, 'OPTION_REPEATED', `repeats option ${first + 1}: answers to both are the same`)
    } else firstOf.set(answer, index)
  }
}
