import { breakingViolations, publishViolations } from '@fms/drafts'
import { parseDraft, parseSnapshot } from '@fms/forms-store'

export const violationsOf = (draftJson: string) => publishViolations(parseDraft({ draftJson }))

export interface DraftAndLive {
  draftJson: string
  liveJson: string
}

export const breakingChangesOf = ({ draftJson, liveJson }: DraftAndLive) =>
  breakingViolations(parseSnapshot({ formJson: liveJson }), parseDraft({ draftJson }))
