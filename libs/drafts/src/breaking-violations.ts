import { isObject, type Json, type JsonObject } from '@fms/aip'
import type { BreakingChange, FormChange, FormDraft, PreconditionViolation } from '@fms/contracts'
import { breakingChanges } from './compare/breaking-changes.ts'
import { takeViolations } from './take-violations.ts'

/** The part of a form or draft that can have breaking changes. */
type Steps = Pick<FormDraft, 'steps'>

/** At most 1,000. Subjects are field paths of the draft, or of the live form for what the draft lacks. */
export const breakingViolations = (live: Steps, draft: Steps): PreconditionViolation[] =>
  takeViolations(violationsOf({ steps: live.steps as Json }, { steps: draft.steps as Json }))

function* violationsOf(live: JsonObject, draft: JsonObject): Generator<PreconditionViolation> {
  for (const change of breakingChanges(live, draft)) {
    yield { type: change.breaking, subject: change.field, description: descriptions[change.breaking](change) }
  }
}

const descriptions: Record<BreakingChange, (change: FormChange) => string> = {
  STEP_REMOVED: ({ before }) =>
    `of the live revision must remain: the question ${inShort(keyOf(before))} may have answers`,
  STEP_TYPE_CHANGED: ({ before }) => `must remain ${inShort(before)}: the question may have answers`,
  OPTION_REMOVED: ({ before }) => `of the live revision must remain: answers may contain ${inShort(before)}`,
}

const keyOf = (step: unknown) => (isObject(step as JsonObject) ? (step as JsonObject).key : step)

const maxShownLength = 100

/** The JSON of a value, cut off after 100 characters. */
const inShort = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.length > maxShownLength ? `${json.slice(0, maxShownLength).toWellFormed()}…` : json
}
