// Generated from the OpenAPI document by npm run generate.

export type Actor = UserActor | OperatorActor
export type ActorKey = {
  /** Format: uuid. */
  id: string
  /** The first 8 characters after `fms_`. */
  prefix: string
}
/** A media asset in the background of a screen. */
export type Background = {
  /** 0 (clear) to 1 (opaque). */
  overlayOpacity: number
  position: string
  /** Such as `image`. */
  type: string
  /** `""` or an absolute http or https URL. */
  url: string
}
/** A media asset in the background of a screen. */
export type BackgroundInput = {
  /** 0 (clear) to 1 (opaque). Default: `0`. */
  overlayOpacity?: number
  /** Default: `"left-half"`. */
  position?: string
  /** Such as `image`. */
  type: string
  /** `""` or an absolute http or https URL. */
  url: string
}
export type BadRequest = {
  '@type': 'type.googleapis.com/google.rpc.BadRequest'
  fieldViolations: FieldViolation[]
}
/** A jump to another step if one of the groups holds. */
export type Branch = {
  /** A branch holds if one of its groups does; a group, if all of its conditions do. `[[]]` always holds, `[]` never. */
  groups: Condition[][]
  targetStepKey: string
}
/** A jump to another step if one of the groups holds. */
export type BranchInput = {
  /** A branch holds if one of its groups does; a group, if all of its conditions do. `[[]]` always holds, `[]` never. Default: `[]`. */
  groups?: ConditionInput[][]
  targetStepKey: string
}
export type Branding = {
  enabled: boolean
  /** `""` or an absolute http or https URL. */
  logoLinkUrl: string
  /** `""` or an absolute http or https URL. */
  logoUrl: string
}
export type BrandingPatch = {
  /** Default: `false`. */
  enabled?: boolean | null
  /** `""` or an absolute http or https URL. Default: `""`. */
  logoLinkUrl?: string | null
  /** `""` or an absolute http or https URL. Default: `""`. */
  logoUrl?: string | null
}
export type BreakingChange = 'STEP_REMOVED' | 'STEP_TYPE_CHANGED' | 'OPTION_REMOVED'
export type ChangeKind = 'ADDED' | 'REMOVED' | 'CHANGED' | 'MOVED'
/** A question with one of several options as its answer. */
export type ChoiceStep = {
  type: 'choice'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOption[]
}
/** A question with one of several options as its answer. */
export type ChoiceStepInput = {
  type: 'choice'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOptionInput[]
}
/** A comparison with the answer to an earlier step. */
export type Condition = {
  /** Turns the result round. */
  negate: boolean
  /** Any text; the catalogue has `equals`, `contains`, `startsWith`, `greaterThan`, `lessThan`, `isAnswered`, `includes`. */
  operator: string
  stepKey: string
  /** What the answer is compared with: the `key` of an option if it has one, else its text; `yes` or `no`; a number as text. */
  value: string
}
/** A comparison with the answer to an earlier step. */
export type ConditionInput = {
  /** Turns the result round. Default: `false`. */
  negate?: boolean
  /** Any text; the catalogue has `equals`, `contains`, `startsWith`, `greaterThan`, `lessThan`, `isAnswered`, `includes`. */
  operator: string
  stepKey: string
  /** What the answer is compared with: the `key` of an option if it has one, else its text; `yes` or `no`; a number as text. Default: `""`. */
  value?: string
}
/** A question for a day. */
export type DateStep = {
  type: 'date'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The smallest answer, such as `2026-01-31`. Format: date. */
  min?: string
  /** The largest answer, such as `2026-12-31`. Format: date. */
  max?: string
}
/** A question for a day. */
export type DateStepInput = {
  type: 'date'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The smallest answer, such as `2026-01-31`. Format: date. */
  min?: string
  /** The largest answer, such as `2026-12-31`. Format: date. */
  max?: string
}
/** A form that was deleted and can be restored. */
export type DeletedForm = {
  /** `organizations/{organization_id}/deletedForms/{form_id}` */
  path: string
  publicId: string
  name: string
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  deleteTime: string
  /** When the form, its revisions and its replies are removed for good. Format: date-time. */
  purgeTime: string
  /** Who deleted it: `users/{user_id}`; `""` if an operator imported the form with new ids. */
  deleter: string
}
/** A question with one option of a long list as its answer. */
export type DropdownStep = {
  type: 'dropdown'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOption[]
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A question with one option of a long list as its answer. */
export type DropdownStepInput = {
  type: 'dropdown'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOptionInput[]
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A question for an email address. */
export type EmailStep = {
  type: 'email'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A question for an email address. */
export type EmailStepInput = {
  type: 'email'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A last screen. A form may have several; branches lead to those after the first. */
export type EndStep = {
  type: 'end'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
}
/** A last screen. A form may have several; branches lead to those after the first. */
export type EndStepInput = {
  type: 'end'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
}
/** The body of every error response (AIP-193). */
export type ErrorBody = {
  error: {
    /** The HTTP status code. */
    code: number
    status: Status
    /** For people: what is wrong, and what to do next. The wording may change. */
    message: string
    details: ErrorDetail[]
  }
}
/** `@type` names the variant. */
export type ErrorDetail = ErrorInfo | BadRequest | PreconditionFailure | RetryInfo | RequestInfo
export type ErrorInfo = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo'
  /** Upper snake case and stable: programs branch on it. */
  reason: string
  domain: 'forms'
  /** Every value in the message. */
  metadata: { [key: string]: string }
}
/** A change of a form: CloudEvents 1.0 with the `sequence` extension. */
export type FormEvent = {
  specversion: '1.0'
  /** The same wherever the event is seen, and on every repeat. Format: uuid. */
  id: string
  /** `/v2/organizations/{organization_id}` */
  source: string
  /** `form.created`, `form.updated`, `form.published`, `form.unpublished`, `form.rolledBack`, `form.deleted`, `form.undeleted`, `form.purged`, `form.imported`. Ignore the types that you do not know. */
  type: string
  /** The path of the form: `organizations/{organization_id}/forms/{form_id}` */
  subject: string
  /** Time of the change. Strictly increases for each form. Format: date-time. */
  time: string
  datacontenttype: 'application/json'
  /** Position in the log of the organization, without gaps: 16 decimal digits, from `0000000000000001`. */
  sequence: string
  data: FormEventData
  [key: string]: unknown
}
export type FormEventData = {
  /** `organizations/{organization_id}/forms/{form_id}` */
  form: string
  publicId: string
  /** The name of the form after the change. */
  name: string
  /** The ETag of the draft after the change; `""` after a delete. */
  etag: string
  /** The ETag of the draft before the change; `""` for a new form. */
  previousEtag: string
  actor: Actor
  /** `x-request-id` of the request; `""` where there was none. */
  httpRequestId: string
  /** Of `form.updated` and `form.rolledBack`: the top-level members of the form that changed. */
  fields?: string[]
  /** The path of a revision. Of `form.published`: the new one. Of `form.unpublished`: the one that was live. Of `form.rolledBack`: the one that the draft was taken from. */
  revision?: string
  /** The number of that revision. */
  number?: number
  /** Of `form.unpublished`: the `note` of the request. Cut off at the end if the event would exceed 4 KiB. */
  note?: string
  /** Of `form.deleted`, and of `form.imported` for a deleted form: the end of the time in which the form can be restored. Absent if it cannot be restored. Format: date-time. */
  purgeTime?: string
  [key: string]: unknown
}
/** An invalid field of a request. */
export type FieldViolation = {
  /** A path such as `form.steps[2].key`; `""` means the whole body. */
  field: string
  description: string
}
/** A question that respondents answer with files. */
export type FileStep = {
  type: 'file'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The media types or name endings that are taken, such as `image/*` or `.pdf`. */
  accept?: string[]
  /** The largest number of files. Default: 1. */
  max?: number
}
/** A question that respondents answer with files. */
export type FileStepInput = {
  type: 'file'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The media types or name endings that are taken, such as `image/*` or `.pdf`. */
  accept?: string[]
  /** The largest number of files. Default: 1. */
  max?: number
}
/** The current draft of a form with its output-only fields. */
export type Form = {
  /** AI Handoff links on the published start screen. A change takes effect without a publish. */
  aiHandoff: Toggle
  /** Media assets available in the form. */
  backgrounds: Background[]
  branding: Branding
  /** Factual reference data for the AI, one fact per item. */
  context: string[]
  /** Must be `guided` in a form with a payment step. */
  defaultMode: FormMode
  /** Summary of the form's purpose. */
  description: string
  i18n: I18n
  leadScoring: LeadScoring
  marketplace: Marketplace
  /** Maximum number of AI follow-up questions per response. */
  maxFollowUpQuestions: number
  /** Display name; not only white space. */
  name: string
  /** Start screen, questions and end screens, in order. A write replaces the whole list. */
  steps: Step[]
  theme: Theme
  /** Conversational tone, such as `professional` or `casual`. */
  tone: string
  /** `structured`: explicit steps; `dynamic`: an adaptive conversation. Immutable after creation. */
  type: FormType
  /** Whether respondents may reply by voice. */
  voice: Toggle
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  createTime: string
  /** Whether the form has a live revision. */
  live: boolean
  /** `organizations/{organization_id}/forms/{form_id}` */
  path: string
  /** 10 letters and digits, unique in the service. `""` in the response to a create with `validateOnly`. */
  publicId: string
  /** URL of the form for respondents. `""` in the response to a create with `validateOnly`. */
  publicUrl: string
  /** Number of replies received. */
  replyCount: number
  /** Time of the last change of the draft. Each change increases it. Format: date-time. */
  updateTime: string
}
/** One difference between two states of a form. */
export type FormChange = {
  kind: ChangeKind
  /** Path such as `form.steps[2].title`, with the indexes of `to`, or of `from` if `kind` is `REMOVED`. Cut off with `…` after 500 characters. */
  field: string
  /** JSON Pointer (RFC 6901) of the value in the form of `from`. Absent if `kind` is `ADDED`. */
  fromPointer?: string
  /** JSON Pointer (RFC 6901) of the value in the form of `to`. Absent if `kind` is `REMOVED`. */
  toPointer?: string
  /** The value in `from`. Absent if `kind` is `ADDED` or `MOVED`. */
  before?: unknown
  /** The value in `to`. Absent if `kind` is `REMOVED` or `MOVED`. */
  after?: unknown
  /** Present if the change orphans answers that respondents have already given to a question. */
  breaking?: BreakingChange
}
/** The differences between two states of a form. */
export type FormChanges = {
  /** Path of the revision. */
  from: string
  /** Path of the revision; of the form, if `to` is `draft`. */
  to: string
  /** Empty if all fields of the maker are equal. */
  changes: FormChange[]
  /** Number of changes with `breaking`. */
  breakingCount: number
  /** Whether `violations` is empty. Present if `to` is `draft`. */
  publishable?: boolean
  /** What a publish of the draft would report as `DRAFT_NOT_PUBLISHABLE`, at most 1,000. Present if `to` is `draft`. */
  violations?: PreconditionViolation[]
  /** What the catalogue of steps would do otherwise, at most 100. Warnings prevent nothing. Present if `to` is `draft`. */
  warnings?: FormWarning[]
}
/** What a publish of a draft would report, and what may be better. */
export type FormCheck = {
  /** Whether `violations` is empty. */
  publishable: boolean
  /** What a publish of the draft would report as `DRAFT_NOT_PUBLISHABLE`, at most 1,000. */
  violations: PreconditionViolation[]
  /** What the catalogue of steps would do otherwise, at most 100. Warnings prevent nothing. */
  warnings: FormWarning[]
}
export type FormMode = 'guided' | 'conversational' | 'voice'
/** A JSON Merge Patch (RFC 7396) of a form: omitted members stay unchanged, `null` clears, lists are replaced as a whole. */
export type FormPatch = {
  /** AI Handoff links on the published start screen. A change takes effect without a publish. */
  aiHandoff?: TogglePatch | null
  /** Media assets available in the form. Default: `[]`. */
  backgrounds?: BackgroundInput[] | null
  branding?: BrandingPatch | null
  /** Factual reference data for the AI, one fact per item. Default: `[]`. */
  context?: string[] | null
  /** Must be `guided` in a form with a payment step. Default: `"guided"`. */
  defaultMode?: FormMode
  /** Summary of the form's purpose. Default: `""`. */
  description?: string | null
  i18n?: I18nPatch | null
  leadScoring?: LeadScoringPatch | null
  marketplace?: MarketplacePatch | null
  /** Maximum number of AI follow-up questions per response. Default: `3`. */
  maxFollowUpQuestions?: number | null
  /** Display name; not only white space. Default: `"Untitled form"`. */
  name?: string
  /** Start screen, questions and end screens, in order. A write replaces the whole list. Default: `[]`. */
  steps?: StepInput[] | null
  theme?: ThemePatch | null
  /** Conversational tone, such as `professional` or `casual`. Default: `"professional"`. */
  tone?: string | null
  /** `structured`: explicit steps; `dynamic`: an adaptive conversation. Immutable after creation. Default: `"structured"`. */
  type?: FormType
  /** Whether respondents may reply by voice. */
  voice?: TogglePatch | null
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  createTime?: string
  /** Whether the form has a live revision. */
  live?: boolean
  /** `organizations/{organization_id}/forms/{form_id}` */
  path?: string
  /** 10 letters and digits, unique in the service. `""` in the response to a create with `validateOnly`. */
  publicId?: string
  /** URL of the form for respondents. `""` in the response to a create with `validateOnly`. */
  publicUrl?: string
  /** Number of replies received. */
  replyCount?: number
  /** Time of the last change of the draft. Each change increases it. Format: date-time. */
  updateTime?: string
}
export type FormType = 'structured' | 'dynamic'
/** Advice about a field of a form. It prevents nothing. */
export type FormWarning = {
  /** A path such as `form.steps[2].title`. */
  field: string
  /** Stable: programs branch on it. One of TYPE_UNKNOWN, MEMBER_UNKNOWN, MEMBER_INVALID, MEMBER_MISSING, OPTION_BLANK, OPTION_REPEATED, OPERATOR_UNKNOWN, VALUE_UNKNOWN, BRANCH_TARGET_MISSING, BRANCH_ENDLESS, STEP_UNREACHABLE, END_MISSING, COLOR_INVALID, LOCALE_UNTRANSLATED; more may follow. */
  reason: string
  /** For people. The wording may change. */
  message: string
}
export type I18n = {
  /** A BCP 47 language tag such as `en` or `pt-BR`. */
  sourceLocale: string
  /** No duplicates, letter case ignored; stored as sent. */
  supportedLocales: string[]
  /** Keyed by BCP 47 language tag. */
  translations: { [key: string]: TranslationSet }
}
export type I18nPatch = {
  /** A BCP 47 language tag such as `en` or `pt-BR`. Default: `"en"`. */
  sourceLocale?: string | null
  /** No duplicates, letter case ignored; stored as sent. Default: `["en"]`. */
  supportedLocales?: string[] | null
  /** Keyed by BCP 47 language tag. */
  translations?: { [key: string]: TranslationSetPatch | null | undefined } | null
}
/** A new API key and its secret, which is shown this once. */
export type IssuedKey = {
  key: Key
  /** The text for `x-api-key`. Only its hash is stored: it cannot be shown again. */
  secret: string
}
/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }
/** A live API key of the caller, without its secret. */
export type Key = {
  /** `keys/{key_id}` */
  path: string
  /** For people. `""` if an operator created the key without a name. */
  name: string
  /** The first 8 characters of the secret after `fms_`, to tell keys apart. */
  prefix: string
  /** Whether the key rejects writes, whatever the role of its user. */
  readOnly: boolean
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  createTime: string
  /** Accurate to a minute; `""` before the first use. */
  lastUsedTime: string
  /** When the key stops working; `""` if it does not expire. */
  expireTime: string
  /** Whether it is the key of this request. */
  current: boolean
}
/** An option whose key stays when its label changes. */
export type KeyedOption = {
  key: string
  label: string
}
/** An option whose key stays when its label changes. */
export type KeyedOptionInput = {
  key: string
  label: string
}
export type LeadScoring = {
  enabled: boolean
  high: string
  low: string
  medium: string
}
export type LeadScoringPatch = {
  /** Default: `false`. */
  enabled?: boolean | null
  /** Default: `""`. */
  high?: string | null
  /** Default: `""`. */
  low?: string | null
  /** Default: `""`. */
  medium?: string | null
}
export type Location = {
  address: string
  area: string
  city: string
}
export type LocationPatch = {
  /** Default: `""`. */
  address?: string | null
  /** Default: `""`. */
  area?: string | null
  /** Default: `""`. */
  city?: string | null
}
/** A question with a text of several lines as its answer. */
export type LongTextStep = {
  type: 'long-text'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest number of characters of an answer. */
  minLength?: number
  /** The largest number of characters of an answer. */
  maxLength?: number
}
/** A question with a text of several lines as its answer. */
export type LongTextStepInput = {
  type: 'long-text'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest number of characters of an answer. */
  minLength?: number
  /** The largest number of characters of an answer. */
  maxLength?: number
}
export type Marketplace = {
  /** `""` or an absolute http or https URL. */
  bookingUrl: string
  category: string
  description: string
  enabled: boolean
  industry: string
  languages: string[]
  location: Location
  name: string
  services: MarketplaceService[]
}
export type MarketplacePatch = {
  /** `""` or an absolute http or https URL. Default: `""`. */
  bookingUrl?: string | null
  /** Default: `""`. */
  category?: string | null
  /** Default: `""`. */
  description?: string | null
  /** Default: `false`. */
  enabled?: boolean | null
  /** Default: `""`. */
  industry?: string | null
  /** Default: `[]`. */
  languages?: string[] | null
  location?: LocationPatch | null
  /** Default: `""`. */
  name?: string | null
  /** Default: `[]`. */
  services?: MarketplaceServiceInput[] | null
}
export type MarketplaceService = {
  category: string
  description: string
  duration: string
  name: string
  priceRange?: PriceRange
}
export type MarketplaceServiceInput = {
  /** Default: `""`. */
  category?: string
  /** Default: `""`. */
  description?: string
  /** Default: `""`. */
  duration?: string
  /** Default: `""`. */
  name?: string
  priceRange?: PriceRangeInput
}
/** An organization of the caller, and the role in it. */
export type Membership = {
  organization: Organization
  role: 'viewer' | 'editor' | 'owner'
}
/** A question with any number of options as its answer. */
export type MultipleChoiceStep = {
  type: 'multiple-choice'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOption[]
  /** The smallest number of options to choose. */
  min?: number
  /** The largest number of options to choose. */
  max?: number
}
/** A question with any number of options as its answer. */
export type MultipleChoiceStepInput = {
  type: 'multiple-choice'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOptionInput[]
  /** The smallest number of options to choose. */
  min?: number
  /** The largest number of options to choose. */
  max?: number
}
export type KeyInput = {
  /** For people; not only white space. */
  name: string
  /** Whether the key rejects writes, whatever the role of its user. Default: `false`. */
  readOnly?: boolean
  /** When the key stops working, RFC 3339. Default: `""`, it does not expire. Required if the key of the request expires; then it must not be later than the `expireTime` of that key. */
  expireTime?: string
}
/** A question for a number. */
export type NumberStep = {
  type: 'number'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest answer. */
  min?: number
  /** The largest answer. */
  max?: number
  /** Answers are `min`, or 0, plus a multiple of it. Default: any number. */
  step?: number
}
/** A question for a number. */
export type NumberStepInput = {
  type: 'number'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest answer. */
  min?: number
  /** The largest answer. */
  max?: number
  /** Answers are `min`, or 0, plus a multiple of it. Default: any number. */
  step?: number
}
/** An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. Other members are stored as sent. */
export type OpenStep = {
  type: OpenType
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. `""` or an absolute http or https URL. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. `""` or an absolute http or https URL. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  [key: string]: unknown
}
/** An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. Other members are stored as sent. */
export type OpenStepInput = {
  type: OpenType
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. `""` or an absolute http or https URL. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. `""` or an absolute http or https URL. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  [key: string]: unknown
}
/** A type of steps that is not in the catalogue, made by `openType`. No value has the prefix, which tells the compiler that it is none of the others. */
export type OpenType = `open: ${string}`
export type OperatorActor = {
  operator: true
}
/** An organization, which owns forms. Every response has all fields. */
export type Organization = {
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  createTime: string
  /** Null when no logo is configured. */
  logo: string | null
  /** Any JSON value; null when none is stored. */
  metadata: JsonValue
  name: string
  /** `organizations/{organization_id}` */
  path: string
  /** Accepted in place of the id in paths. */
  slug: string
}
/** A payment. The form must have `defaultMode: "guided"`. */
export type PaymentStep = {
  type: 'payment'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The price in units of the currency, such as `12.5`. */
  amount?: number
  /** The currency (ISO 4217), such as `EUR`. */
  currency?: string
}
/** A payment. The form must have `defaultMode: "guided"`. */
export type PaymentStepInput = {
  type: 'payment'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The price in units of the currency, such as `12.5`. */
  amount?: number
  /** The currency (ISO 4217), such as `EUR`. */
  currency?: string
}
/** A question for a telephone number. */
export type PhoneStep = {
  type: 'phone'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A question for a telephone number. */
export type PhoneStepInput = {
  type: 'phone'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
export type PreconditionFailure = {
  '@type': 'type.googleapis.com/google.rpc.PreconditionFailure'
  violations: PreconditionViolation[]
}
/** A rule that keeps a draft from being published. */
export type PreconditionViolation = {
  /** The kind of rule, in upper snake case. */
  type: string
  /** The field path or resource path that breaks the rule. */
  subject: string
  description: string
}
export type PriceRange = {
  currency: string
  max: number
  min: number
}
export type PriceRangeInput = {
  /** Default: `""`. */
  currency?: string
  /** Default: `0`. */
  max?: number
  /** Default: `0`. */
  min?: number
}
/** A question whose answer is the options in an order. */
export type RankingStep = {
  type: 'ranking'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOption[]
}
/** A question whose answer is the options in an order. */
export type RankingStepInput = {
  type: 'ranking'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** What respondents choose from: texts, or objects with `key` and `label`. */
  options?: StepOptionInput[]
}
/** A question whose answer is 1 to `max` stars. */
export type RatingStep = {
  type: 'rating'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The number of stars. */
  max?: number
  /** Texts of the values: one for each, or two for the lowest and the highest. */
  labels?: string[]
}
/** A question whose answer is 1 to `max` stars. */
export type RatingStepInput = {
  type: 'rating'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The number of stars. */
  max?: number
  /** Texts of the values: one for each, or two for the lowest and the highest. */
  labels?: string[]
}
export type RequestInfo = {
  '@type': 'type.googleapis.com/google.rpc.RequestInfo'
  /** The value of the header `x-request-id`. */
  requestId: string
}
export type RetryInfo = {
  '@type': 'type.googleapis.com/google.rpc.RetryInfo'
  /** Such as `1s`; the header `Retry-After` has the same value in seconds. */
  retryDelay: string
}
/** A published draft. Immutable except for `alternateIds`. */
export type Revision = {
  /** `organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}` */
  path: string
  /** `["live"]` on the live revision, `[]` on the others. */
  alternateIds: 'live'[]
  /** Time of the publish. Format: date-time. */
  createTime: string
  /** Increases with each revision of the form. Numbers may be missing. */
  number: number
  /** Who published it: `users/{user_id}`. `""` for revisions that an operator imported as new. */
  publisher: string
  /** `note` of the publish; `""` without one. */
  note: string
  /** The form as it was published. */
  form: Form
}
/** A question whose answer is a whole number from `min` to `max`. */
export type ScaleStep = {
  type: 'scale'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The lowest value. */
  min?: number
  /** The highest value. */
  max?: number
  /** The distance of two values. Default: 1. */
  step?: number
  /** Texts of the values: one for each, or two for the lowest and the highest. */
  labels?: string[]
}
/** A question whose answer is a whole number from `min` to `max`. */
export type ScaleStepInput = {
  type: 'scale'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The lowest value. */
  min?: number
  /** The highest value. */
  max?: number
  /** The distance of two values. Default: 1. */
  step?: number
  /** Texts of the values: one for each, or two for the lowest and the highest. */
  labels?: string[]
}
/** The key of a session, its secret, which is shown this once, and its user. */
export type Session = {
  key: Key
  /** The text for `x-api-key`. Only its hash is stored: it cannot be shown again. */
  secret: string
  user: User
}
/** A question that respondents answer by signing. */
export type SignatureStep = {
  type: 'signature'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
}
/** A question that respondents answer by signing. */
export type SignatureStepInput = {
  type: 'signature'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
}
/** The first screen. It has the members of `end`, and no others. */
export type StartStep = {
  type: 'start'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title: string
  /** A text below the title. */
  description: string
  /** The text of the button that leads on. */
  buttonText: string
  /** An image above the title. `""` or an absolute http or https URL. */
  logoUrl: string
  /** Where the browser goes when respondents leave the screen. `""` or an absolute http or https URL. */
  redirectUrl: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches: Branch[]
}
/** The first screen. It has the members of `end`, and no others. */
export type StartStepInput = {
  type: 'start'
  /** Unique in the form. */
  key: string
  /** The heading or the question. Default: `""`. */
  title?: string
  /** A text below the title. Default: `""`. */
  description?: string
  /** The text of the button that leads on. Default: `""`. */
  buttonText?: string
  /** An image above the title. `""` or an absolute http or https URL. Default: `""`. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. `""` or an absolute http or https URL. Default: `""`. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. Default: `[]`. */
  branches?: BranchInput[]
}
/** A text between questions. It has no answer. */
export type StatementStep = {
  type: 'statement'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
}
/** A text between questions. It has no answer. */
export type StatementStepInput = {
  type: 'statement'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
}
export type Status =
  | 'INVALID_ARGUMENT'
  | 'FAILED_PRECONDITION'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'RESOURCE_EXHAUSTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
/** A screen of the form. `type` names the variant. Except for `start`, the variants are recommendations: other types and members are stored as sent. */
export type Step =
  | StartStep
  | EndStep
  | StatementStep
  | TextStep
  | LongTextStep
  | EmailStep
  | PhoneStep
  | UrlStep
  | NumberStep
  | DateStep
  | TimeStep
  | YesNoStep
  | ChoiceStep
  | MultipleChoiceStep
  | DropdownStep
  | RatingStep
  | ScaleStep
  | RankingStep
  | FileStep
  | SignatureStep
  | PaymentStep
  | OpenStep
/** A screen of the form. `type` names the variant. Except for `start`, the variants are recommendations: other types and members are stored as sent. */
export type StepInput =
  | StartStepInput
  | EndStepInput
  | StatementStepInput
  | TextStepInput
  | LongTextStepInput
  | EmailStepInput
  | PhoneStepInput
  | UrlStepInput
  | NumberStepInput
  | DateStepInput
  | TimeStepInput
  | YesNoStepInput
  | ChoiceStepInput
  | MultipleChoiceStepInput
  | DropdownStepInput
  | RatingStepInput
  | ScaleStepInput
  | RankingStepInput
  | FileStepInput
  | SignatureStepInput
  | PaymentStepInput
  | OpenStepInput
/** A text, or a label with a key that stays when the label changes. */
export type StepOption = string | KeyedOption
/** A text, or a label with a key that stays when the label changes. */
export type StepOptionInput = string | KeyedOptionInput
/** A question with a short text as its answer. */
export type TextStep = {
  type: 'text'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest number of characters of an answer. */
  minLength?: number
  /** The largest number of characters of an answer. */
  maxLength?: number
  /** A regular expression that the whole answer must match, as in HTML. Format: regex. */
  pattern?: string
}
/** A question with a short text as its answer. */
export type TextStepInput = {
  type: 'text'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
  /** The smallest number of characters of an answer. */
  minLength?: number
  /** The largest number of characters of an answer. */
  maxLength?: number
  /** A regular expression that the whole answer must match, as in HTML. Format: regex. */
  pattern?: string
}
/** Colours are any text, the other texts any value. */
export type Theme = {
  backgroundColor: string
  buttonRadiusPx: number
  buttonSize: string
  buttonTextColor: string
  fontFamily: string
  foregroundColor: string
  primaryColor: string
  textAnimation: string
  textSize: string
}
/** Colours are any text, the other texts any value. */
export type ThemePatch = {
  /** Default: `"#ffffff"`. */
  backgroundColor?: string | null
  /** Default: `8`. */
  buttonRadiusPx?: number | null
  /** Default: `"regular"`. */
  buttonSize?: string | null
  /** Default: `"#ffffff"`. */
  buttonTextColor?: string | null
  /** Default: `"sans"`. */
  fontFamily?: string | null
  /** Default: `"#111111"`. */
  foregroundColor?: string | null
  /** Default: `"#2563eb"`. */
  primaryColor?: string | null
  /** Default: `"typing"`. */
  textAnimation?: string | null
  /** Default: `"regular"`. */
  textSize?: string | null
}
/** A question for a time of day. */
export type TimeStep = {
  type: 'time'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The smallest answer, such as `09:00`. */
  min?: string
  /** The largest answer, such as `17:30`. */
  max?: string
}
/** A question for a time of day. */
export type TimeStepInput = {
  type: 'time'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** The smallest answer, such as `09:00`. */
  min?: string
  /** The largest answer, such as `17:30`. */
  max?: string
}
export type Toggle = {
  enabled: boolean
}
export type TogglePatch = {
  /** Default: `false`. */
  enabled?: boolean | null
}
export type TranslatedStep = {
  buttonText?: TranslatedValue
  description?: TranslatedValue
  title?: TranslatedValue
  /** In the order of the options of the step. */
  options: TranslatedValue[]
}
export type TranslatedStepPatch = {
  buttonText?: TranslatedValuePatch | null
  description?: TranslatedValuePatch | null
  title?: TranslatedValuePatch | null
  /** In the order of the options of the step. Default: `[]`. */
  options?: TranslatedValueInput[] | null
}
/** A text in another language. */
export type TranslatedValue = {
  override: boolean
  sourceHash: string
  /** Whether the source text has changed since the translation. */
  stale: boolean
  value: string
}
/** A text in another language. */
export type TranslatedValueInput = {
  /** Default: `false`. */
  override?: boolean
  /** Default: `""`. */
  sourceHash?: string
  /** Whether the source text has changed since the translation. Default: `false`. */
  stale?: boolean
  /** Default: `""`. */
  value?: string
}
/** A text in another language. */
export type TranslatedValuePatch = {
  /** Default: `false`. */
  override?: boolean | null
  /** Default: `""`. */
  sourceHash?: string | null
  /** Whether the source text has changed since the translation. Default: `false`. */
  stale?: boolean | null
  /** Default: `""`. */
  value?: string | null
}
/** All texts of a form in one language. */
export type TranslationSet = {
  description?: TranslatedValue
  name?: TranslatedValue
  /** Keyed by step key. */
  steps: { [key: string]: TranslatedStep }
}
/** All texts of a form in one language. */
export type TranslationSetPatch = {
  description?: TranslatedValuePatch | null
  name?: TranslatedValuePatch | null
  /** Keyed by step key. */
  steps?: { [key: string]: TranslatedStepPatch | null | undefined } | null
}
/** A question for a web address. */
export type UrlStep = {
  type: 'url'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A question for a web address. */
export type UrlStepInput = {
  type: 'url'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** An example that the empty field shows. */
  placeholder?: string
}
/** A person who acts through API keys. */
export type User = {
  /** `users/{user_id}` */
  path: string
  /** In lower case. */
  email: string
  /** RFC 3339, UTC, with milliseconds. Format: date-time. */
  createTime: string
}
export type UserActor = {
  /** `users/{user_id}` */
  user: string
  key?: ActorKey
}
/** The caller: user, key and memberships. */
export type Whoami = {
  user: User
  key: Key
  /** In the order in which the memberships began. */
  memberships: Membership[]
}
/** A question whose answer is `yes` or `no`. */
export type YesNoStep = {
  type: 'yes-no'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: Background
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: Branch[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** Two texts, for `yes` and `no`. */
  labels?: string[]
}
/** A question whose answer is `yes` or `no`. */
export type YesNoStepInput = {
  type: 'yes-no'
  /** Unique in the form. */
  key: string
  /** The heading or the question. */
  title?: string
  /** A text below the title. */
  description?: string
  /** The text of the button that leads on. */
  buttonText?: string
  /** An image above the title. */
  logoUrl?: string
  /** Where the browser goes when respondents leave the screen. */
  redirectUrl?: string
  /** An image behind the screen. */
  background?: BackgroundInput
  /** Where respondents go from here. The first branch that holds counts; without one, the next step follows. */
  branches?: BranchInput[]
  /** Whether respondents must answer before they go on. Default: `false`. */
  required?: boolean
  /** Two texts, for `yes` and `no`. */
  labels?: string[]
}

/** A field that `orderBy` of `GET /organizations/{organizationRef}/forms` may name. */
export type FormOrderField = 'name' | 'createTime' | 'publicId' | 'replyCount' | 'updateTime'

/** A field that `orderBy` of `GET /organizations/{organizationRef}/events` may name. */
export type EventOrderField = 'sequence'

/** A field that `orderBy` of `GET /organizations` may name. */
export type OrganizationOrderField = 'createTime' | 'name' | 'slug'
