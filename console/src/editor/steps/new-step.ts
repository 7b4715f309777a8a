import type { JsonValue } from '@fms/client'
import { asList, asObject, asText, isObject, type JsonObject } from '../../json/values.ts'
import { membersOfType } from './step-members.ts'

const maxKeyLength = 40

/** Names of members that the service refuses, and translations are members by the keys of their steps. */
const forbidden = ['constructor', 'prototype']

/** A key that is made from a title, such as `what-is-your-name`; from the type if the title has no letter of A to Z. */
const keyOfTitle = (title: string, type: string): string => {
  const letters = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const key = letters.replaceAll(/[^a-z0-9]+/g, '-').slice(0, maxKeyLength)
  const made = key.replaceAll(/^-|-$/g, '')
  return (forbidden.includes(made) ? '' : made) || type.replaceAll(/[^\w-]/g, '') || 'step'
}

/** The first of `key`, `key-2`, `key-3` … that no step has. */
const freeKey = (key: string, steps: readonly JsonValue[]): string => {
  const taken = new Set(steps.map((step) => asObject(step).key))
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? key : `${key}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

/** A step of a type, with a key that none of `taken` has. */
export const newStep = (type: string, taken: readonly JsonValue[]): JsonObject => ({
  type,
  key: freeKey(keyOfTitle('', type), taken),
  title: '',
  ...(membersOfType(type)?.options && { options: ['', ''] }),
})

/** A copy of a step, with a key of its own, to which its branches refer, too. */
export const copyOfStep = (step: JsonObject, taken: readonly JsonValue[]): JsonObject => {
  const key = freeKey(asText(step.key).replace(/-\d+$/, '') || 'step', taken)
  return { ...withReferences(step, asText(step.key), key, false), key }
}

/**
 * A step whose branches refer to another key. The same object if they do not refer to the former one.
 *
 * @param withTargets whether branches lead to the other key, too
 */
export const withReferences = (
  step: JsonObject,
  former: string,
  key: string,
  withTargets = true,
): JsonObject => {
  if (!refersTo(step, former)) return step
  const branches = asList(step.branches).map((branch) => {
    const next = mapConditions(branch, (condition) =>
      condition.stepKey === former ? { ...condition, stepKey: key } : condition,
    )
    const leadsThere = withTargets && isObject(next) && next.targetStepKey === former
    return leadsThere ? { ...next, targetStepKey: key } : next
  })
  return { ...step, branches }
}

const mapConditions = (branch: JsonValue, change: (condition: JsonObject) => JsonObject): JsonValue => {
  if (!isObject(branch) || !Array.isArray(branch.groups)) return branch
  const groups = branch.groups.map((group) =>
    Array.isArray(group) ? group.map((each) => (isObject(each) ? change(each) : each)) : group,
  )
  return { ...branch, groups }
}

/**
 * A step with another title. Its key follows the title as long as nobody has chosen one, saved it or referred to it: answers
 * belong to it.
 *
 * @param others the other steps of the form
 * @param saved the steps that the service has: answers may belong to their keys, also to those that are removed
 */
export const withTitle = (
  step: JsonObject,
  title: string,
  others: readonly JsonValue[],
  saved: readonly JsonValue[],
): JsonObject => {
  const [key, type] = [asText(step.key), asText(step.type)]
  const made = keyOfTitle(asText(step.title), type)
  const isMade = key === made || (key.startsWith(`${made}-`) && /^\d+$/.test(key.slice(made.length + 1)))
  const isSaved = saved.some((each) => asObject(each).key === key)
  if (isSaved || !isMade || [step, ...others].some((each) => refersTo(each, key))) return { ...step, title }
  return { ...step, title, key: freeKey(keyOfTitle(title, type), [...others, ...saved]) }
}

const refersTo = (step: JsonValue, key: string): boolean =>
  asList(asObject(step).branches).some((branch) => {
    const { targetStepKey, groups } = asObject(branch)
    return (
      targetStepKey === key ||
      asList(groups)
        .flat()
        .some((condition) => asObject(condition).stepKey === key)
    )
  })
