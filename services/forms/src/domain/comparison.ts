import type { JsonObject } from '@fms/aip'
import type { FormChanges, FormCheck, FormDraft } from '@fms/contracts'
import { compareDrafts, publishViolations, warningsOf } from '@fms/drafts'
import { parseDraft } from '@fms/forms-store'
import { newDraft } from './write-draft.ts'

/** Two states of a form as JSON text, which is cheap to send to a thread. */
export interface Comparison {
  fromJson: string
  toJson: string
  /** Whether `toJson` is the current draft, so that a publish would take it. */
  toDraft: boolean
}

export const comparisonJson = ({ fromJson, toJson, toDraft }: Comparison): string => {
  const changes = compareDrafts(JSON.parse(fromJson), JSON.parse(toJson))
  const breakingCount = changes.filter(({ breaking }) => breaking !== undefined).length
  const compared: Omit<FormChanges, 'from' | 'to'> = {
    changes,
    breakingCount,
    ...(toDraft && checkDraft(parseDraft({ draftJson: toJson }))),
  }
  return JSON.stringify(compared)
}

/** The response to a check of a form, as JSON. @throws {ApiError} INVALID_REQUEST with all violations, as a create. */
export const checkJson = (form: JsonObject): string => JSON.stringify(checkDraft(parseDraft(newDraft(form))))

const checkDraft = (draft: FormDraft): FormCheck => {
  const violations = publishViolations(draft)
  return { publishable: violations.length === 0, violations, warnings: warningsOf(draft) }
}
