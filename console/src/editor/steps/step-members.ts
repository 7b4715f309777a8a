import type { JsonValue } from '@fms/client'
import { type StepMember, type StepTypeName, stepTypes } from '@fms/contracts/steps'
import { asList, asObject, asText, isObject, type JsonObject } from '../../json/values.ts'
import { withOptionsFrom } from '../translations/translated-texts.ts'
import { labelOf } from './option-lines.ts'

const rare: ReadonlySet<string> = new Set(['logoUrl', 'redirectUrl', 'background'])
/** Shown in this order; the members of the type come between. */
const first = ['title', 'required', 'description']
const last = ['buttonText', ...rare, 'branches']

/** All members in the catalogue, by name. Where types differ, of the first one. */
const knownMembers: ReadonlyMap<string, StepMember> = new Map(
  Object.values(stepTypes)
    .flatMap(({ members }) => Object.entries(members))
    .reverse(),
)

type Members = Readonly<Record<string, StepMember>>

/** The members of a type in the catalogue. */
export const membersOfType = (type: string): Members | undefined =>
  Object.hasOwn(stepTypes, type) ? stepTypes[type as StepTypeName].members : undefined

/** The members of a step that have a field, in the order of the fields: those of its type, and known ones that it has. */
export const membersWithField = (step: JsonObject): [string, StepMember][] => {
  const ofType: Members = membersOfType(asText(step.type)) ?? stepTypes.signature.members
  const names = new Set([
    ...Object.keys(ofType),
    ...Object.keys(step).filter((name) => knownMembers.has(name)),
  ])
  const between = [...names].filter((name) => !first.includes(name) && !last.includes(name))
  return [...first, ...between, ...last]
    .filter((name) => names.has(name))
    .map((name): [string, StepMember] => [name, ofType[name] ?? knownMembers.get(name)!])
    .filter(([name, { kind }]) => hasField(step[name], kind))
}

/** Whether few steps of this type have a member: the first and the last screen often have all. */
export const isRare = (step: JsonObject, name: string): boolean =>
  rare.has(name) && !['start', 'end'].includes(asText(step.type))

const hasField = (value: JsonValue | undefined, kind: StepMember['kind']): boolean => {
  if (value === undefined) return true
  if (kind === 'background') return isObject(value) && value.type === 'image'
  if (kind === 'flag') return typeof value === 'boolean'
  if (kind === 'integer' || kind === 'number') return typeof value === 'number'
  if (kind === 'branches') return isEditableBranches(value)
  if (kind === 'options') return Array.isArray(value) && value.every(isEditableOption)
  if (kind === 'texts')
    return Array.isArray(value) && value.every((each) => typeof each === 'string' && isLine(each))
  return typeof value === 'string'
}

/** Options and texts are lines of their field. */
const isLine = (text: string): boolean => !/[\r\n]/.test(text)

const isEditableOption = (option: JsonValue): boolean =>
  isLine(labelOf(option)) &&
  (typeof option === 'string' ||
    (isObject(option) && typeof option.key === 'string' && typeof option.label === 'string'))

/** Whether branches have the shape that the service requires: only then they have fields. */
const isEditableBranches = (value: JsonValue): boolean =>
  Array.isArray(value) &&
  value.every(
    (branch) =>
      isObject(branch) &&
      Array.isArray(branch.groups) &&
      branch.groups.every((group) => Array.isArray(group) && group.every(isObject)),
  )

/**
 * The fields of a form without blank options and their translations: they are there only while somebody types. The same
 * object if it has none.
 */
export const withoutBlankOptions = (fields: JsonObject): JsonObject => {
  let { steps, i18n } = fields
  for (const [index, step] of asList(fields.steps).entries()) {
    const { key, options } = asObject(step)
    const kept = asList(options).flatMap((option, at) => (isBlank(option) ? [] : [at]))
    if (kept.length === asList(options).length) continue
    const cleaned = { ...asObject(step), options: kept.map((at) => asList(options)[at]!) }
    steps = asList(steps).with(index, cleaned)
    if (isObject(i18n)) i18n = withOptionsFrom(i18n, asText(key), kept)
  }
  return steps === fields.steps ? fields : { ...fields, steps: steps!, ...(i18n && { i18n }) }
}

const isBlank = (option: JsonValue): boolean => isEditableOption(option) && labelOf(option).trim() === ''
