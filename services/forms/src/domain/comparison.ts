import type { FormChanges } from '@fms/contracts'
import { compareDrafts, publishViolations } from '@fms/drafts'
import { parseDraft } from '@fms/forms-store'

/** Two states of a form as JSON text, which is cheap to send to a thread. */
export interface Comparison {
  fromJson: string
  toJson: string
  /** Whether `toJson` is the current draft, so that a publish would take it. */
  toDraft: boolean
}

/** The response to a comparison, as JSON. */
export const comparisonJson = ({ fromJson, toJson, toDraft }: Comparison): string => {
  const changes = compareDrafts(JSON.parse(fromJson), JSON.parse(toJson))
  const breakingCount = changes.filter(({ breaking }) => breaking !== undefined).length
  const compared: Omit<FormChanges, 'from' | 'to'> = {
    changes,
    breakingCount,
    ...(toDraft && publishability(toJson)),
  }
  return JSON.stringify(compared)
}

/** What a publish of the draft would report. */
const publishability = (draftJson: string) => {
  const violations = publishViolations(parseDraft({ draftJson }))
  return { publishable: violations.length === 0, violations }
}
