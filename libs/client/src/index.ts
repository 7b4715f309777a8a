export { type Client, createClient } from './create-client.ts'
export {
  FormsApiError,
  FormsConnectionError,
  isReason,
  type KnownReason,
  knownReasons,
  type Reason,
} from './errors.ts'
export type {
  ChangeOptions,
  EditOptions,
  Forms,
  PublishOptions,
  TaggedForm,
  WriteOptions,
} from './forms.ts'
export type { Organizations } from './organizations.ts'
export type { List, ListQuery, PageQuery } from './pages.ts'
export type {
  FieldViolation,
  Form,
  FormInput,
  FormPatch,
  Organization,
  Page,
  PreconditionViolation,
  Revision,
  Status,
  Step,
} from './resources.ts'
export type { Revisions } from './revisions.ts'
export type { CallOptions, ClientOptions, Clock, Fetch } from './transport.ts'
