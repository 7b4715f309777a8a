import type { PageTokens } from '@fms/aip'
import type { FormsStore } from '@fms/forms-store'
import type { DraftWriter } from './drafts/draft-writer.ts'
import type { EventReader } from './events/event-reader.ts'
import type { EventTails } from './events/event-tails.ts'

export interface FormsDeps {
  forms: FormsStore
  drafts: DraftWriter
  eventReader: EventReader
  eventTails: EventTails
  /** Precedes a form's public id in its `publicUrl`. Without a trailing slash. */
  publicFormBaseUrl: string
  pageTokens: PageTokens
  now: () => Date
}
