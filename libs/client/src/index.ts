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
export type { FormChange, FormChanges } from './resources/changes.ts'
export type { DeletedForm } from './resources/deleted-form.ts'
export type { FieldViolation, PreconditionViolation, Status } from './resources/error-body.ts'
export type {
  Branding,
  Form,
  FormMode,
  FormType,
  I18n,
  LeadScoring,
  Location,
  Marketplace,
  MarketplaceService,
  PriceRange,
  ServerOwnedFields,
  Theme,
  Toggle,
  TranslatedStep,
  TranslatedValue,
  TranslationSet,
} from './resources/form.ts'
export type {
  Actor,
  ActorKey,
  FormEvent,
  FormEventData,
  OperatorActor,
  UserActor,
} from './resources/form-event.ts'
export type {
  FormInput,
  FormPatch,
  I18nPatch,
  MarketplacePatch,
  MarketplaceServiceInput,
  Merge,
  TranslatedStepPatch,
  TranslationSetPatch,
} from './resources/form-patch.ts'
export type { IssuedKey, Key, KeyInput, Membership, Role, User, Whoami } from './resources/key.ts'
export type { JsonValue, Organization } from './resources/organization.ts'
export type { Revision } from './resources/revision.ts'
export type {
  Background,
  BackgroundInput,
  Branch,
  BranchInput,
  Condition,
  ConditionInput,
  OpenStep,
  OpenStepInput,
  StartStep,
  StartStepInput,
  Step,
  StepInput,
} from './resources/step.ts'
export type { Revisions } from './revisions.ts'
export type { TaggedForm } from './tagged-form.ts'
export type { CallOptions, ClientOptions, Clock, Fetch } from './transport.ts'
