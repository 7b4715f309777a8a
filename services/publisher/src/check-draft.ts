import { breakingViolations, publishViolations } from '@fms/drafts'
import { parseDraft, parseSnapshot } from '@fms/forms-store'

/** What prevents the publish of a draft. */
export const violationsOf = (draftJson: string) => publishViolations(parseDraft({ draftJson }))

export interface DraftAndLive {
  draftJson: string
  /** The form in the live revision. */
  liveJson: string
}

/** The breaking changes of a draft since the live revision. */
export const breakingChangesOf = ({ draftJson, liveJson }: DraftAndLive) =>
  breakingViolations(parseSnapshot({ formJson: liveJson }), parseDraft({ draftJson }))
