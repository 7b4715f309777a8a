export { type Client, createClient } from './create-client.ts'
export { createSession } from './create-session.ts'
export type { DeletedForms } from './deleted-forms.ts'
export {
  FormsApiError,
  FormsConnectionError,
  isReason,
  type KnownReason,
  knownReasons,
  type Reason,
} from './errors.ts'
export type { Events, EventsPage, EventsQuery, Position, WatchOptions } from './events/events.ts'
export type {
  ChangeOptions,
  ChangesQuery,
  CreateOptions,
  EditOptions,
  Forms,
  PublishOptions,
  UnpublishOptions,
  WriteOptions,
} from './forms.ts'
export type { Keys, KeyWriteOptions } from './keys.ts'
export type { Organizations } from './organizations.ts'
export type { List, ListQuery, Page, PageQuery } from './pages.ts'
export type { Masked, MaskOptions } from './read-mask.ts'
export type { FormInput, Merge, Role, ServerOwnedFields } from './resources.ts'
export type { Revisions } from './revisions.ts'
export type * from './schemas.generated.ts'
export type { TaggedForm } from './tagged-form.ts'
export type { CallOptions, ClientOptions, Clock, Fetch } from './transport.ts'
