export { type Client, createClient, createSession } from './create-client.ts'
export type { DeletedForms } from './deleted-forms.ts'
export {
  FormsApiError,
  FormsConnectionError,
  isReason,
  type KnownReason,
  type Reason,
} from './errors.ts'
export type { Events, EventsPage, EventsQuery, Position, WatchOptions } from './events/events.ts'
export type {
  ChangesQuery,
  CreateOptions,
  EditOptions,
  Forms,
  PublishOptions,
  UnpublishOptions,
} from './forms.ts'
export type { Keys, KeyWriteOptions } from './keys.ts'
export { knownReasons } from './known-reasons.ts'
export type { Organizations } from './organizations.ts'
export type { List, ListQuery, Masked, MaskOptions, OrderBy, Page, PageQuery, ReadMask } from './pages.ts'
export { type FormInput, openType, type Role, type ServerOwnedFields } from './resources.ts'
export type { Revisions } from './revisions.ts'
export type * from './schemas.generated.ts'
export type { Clock } from './transport/repeat.ts'
export type { CallOptions, ClientOptions, Fetch } from './transport/transport.ts'
export type { ChangeOptions, TaggedForm, WriteOptions } from './write-form.ts'
