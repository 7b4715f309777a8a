import type { CheckedFilter, Position } from '@fms/aip'
import type { EventType, FormRecord } from '@fms/contracts'
import type { EventLog } from './events/event-log.ts'
import type { ChangeContext, IdentifiedRequest } from './identified-request.ts'
import type { FormOrderTerm } from './lists/form-fields.ts'
import type { RevisionGrowth } from './revisions/revision-growth.ts'
import type { DraftSummary } from './stored-rows.ts'

/** What the server sets of a form: its ids, times and version. */
export interface FormMetadata {
  /** Lower-case UUIDs. */
  organizationId: string
  formId: string
  /** 10 letters and digits, unique in the whole service. */
  publicId: string
  createTime: Date
  /** Strictly increases with each change of the draft. */
  updateTime: Date
  /** Number of the draft's current state, from 1. Compare-and-set and `If-Match` compare it. */
  version: number
  replyCount: number
  /** Whether a revision has the alias `live`. */
  live: boolean
}

/** What a list shows of a form without reading its draft. */
export interface FormSummary extends FormMetadata, DraftSummary {}

/** A draft as JSON, and copies of some members: see `toStoredDraft`. */
export interface StoredDraft extends DraftSummary {
  /** The draft as `JSON.stringify` writes it, without white space. */
  draftJson: string
  aiHandoff: boolean
}

/** A form as the store keeps it. `parseDraft` gives its draft. */
export interface StoredForm extends FormMetadata, StoredDraft {}

export interface ChangedForm extends StoredForm {
  /** Top-level members that changed, for the event. Computed if absent: up to 300 ms for the largest drafts. */
  changedFields?: readonly string[]
}

/** Identifies one form as a caller does: the organization by its canonical id, the form by UUID or public id. */
export interface FormRef {
  organizationId: string
  formRef: string
}

export type NamedForm = Pick<FormRef, 'organizationId'> & { formRef?: string | undefined }

/** A published snapshot. Immutable; the form records which revision is live. `parseSnapshot` gives the form in it. */
export interface StoredRevision {
  organizationId: string
  formId: string
  revisionId: string
  /** Increases with each snapshot of the form. Has gaps. */
  number: number
  /** The command that created it; unique in its organization. */
  commandId: string
  createTime: Date
  /** `users/{userId}`; `""` for an operator. */
  publisher: string
  /** The note of the publish, at most 500 characters; `""` for none. */
  note: string
  formJson: string
}

/** The part of a revision that a publish determines. */
export type Snapshot = Pick<StoredRevision, 'revisionId' | 'createTime' | 'publisher' | 'note' | 'formJson'>

/** Takes the snapshot of a form. `readLive` reads the live revision of this state; undefined if there is none. */
export type TakeSnapshot = (
  current: StoredForm,
  readLive: () => Promise<StoredRevision | undefined>,
) => Snapshot | Promise<Snapshot>

/** The revision that a rollback takes the draft from. */
export type RestoredRevision = Pick<StoredRevision, 'revisionId' | 'number'>

/** Which page of a list to read. `P` is the position of an item. */
interface PageQuery<P> {
  /** The position of the last item of the previous page. */
  after?: P
  limit: number
  skip: number
}

export interface PageEnd<P> {
  /** The position of the last item, if more follow. */
  next?: P
  /** The number of items on all pages. */
  totalSize: number
}

export interface ListFormsQuery extends PageQuery<Position> {
  organizationId: string
  filter?: CheckedFilter
  orderBy: readonly FormOrderTerm[]
}

export interface FormsPage extends PageEnd<Position> {
  forms: StoredForm[]
}

export interface FormSummariesPage extends PageEnd<Position> {
  forms: FormSummary[]
}

/** A form that was deleted and can be restored. */
export interface DeletedForm extends Pick<StoredForm, 'organizationId' | 'formId' | 'publicId' | 'name'> {
  deleteTime: Date
  purgeTime: Date
  /** `users/{userId}`; `""` for an operator. */
  deleter: string
}

export type DeletedFormPosition = Pick<DeletedForm, 'deleteTime' | 'formId'>

export interface ListDeletedFormsQuery extends PageQuery<DeletedFormPosition> {
  organizationId: string
}

export interface DeletedFormsPage extends PageEnd<DeletedFormPosition> {
  deletedForms: DeletedForm[]
}

/** The position of a revision is its number. */
export interface ListRevisionsQuery extends FormRef, PageQuery<number> {}

export interface RevisionsPage extends PageEnd<number> {
  revisions: ListedRevision[]
}

export interface ListedRevision {
  revision: StoredRevision
  live: boolean
}

export const maxRepliesPerChange = 100

export interface Replies {
  organizationId: string
  formId: string
  /** Lower-case UUIDs, at most {@link maxRepliesPerChange}. */
  replyIds: readonly string[]
}

/** The mutable parts of a revision as clients read it. */
export interface RevisionState {
  revisionId: string
  live: boolean
  /** Whether the current draft enables AI Handoff; `live` shows it. */
  aiHandoff: boolean
}

/** What an organization has stored, or what a change adds to it. */
export interface Usage {
  /** Without deleted forms. */
  forms: number
  /** Of drafts, revisions and events as JSON in UTF-8, until deleted forms are cleared and events pruned. */
  bytes: number
}

/** Limits of an organization's usage; 0 is unlimited. */
export type Quota = Readonly<Usage>

export interface FormsStoreOptions {
  /** Opens a SQLite file without creating or migrating it. */
  readOnly?: boolean
  /**
   * Whether this process purges due forms and clears what they leave. Default: true, unless `readOnly`. A copy sets it to
   * false, because each purge records an event.
   */
  clears?: boolean
  /** Quota of each organization. Default: unlimited. */
  quota?: Quota
  /** How long a deleted form can be restored, in days from 0 to 3,650. Default: 0, which removes it at once. */
  deletedFormsDays?: number
  /** Time limit of a list, in milliseconds. Default: 2,000. */
  listTimeoutMs?: number
  /** How long MongoDB may work on a request, in ms. Default: 5,000, since callers of the API stop waiting after 6,000. */
  timeoutMs?: number
  /** Called after each change that recorded an event, to wake a relay and to count. Must be fast and not throw. */
  onRecorded?: (type: EventType) => void
}

export interface ImportOptions {
  /** Whether the import records `form.imported`. A copy of a store does not: it copies the log itself. Default: true. */
  recordsEvent?: boolean
  /** Whether to check the import without storing it. Default: false. */
  validateOnly?: boolean
}

export interface CreateOptions {
  /** Whether the client chose the id of the form, which another organization may have as well. Default: false. */
  idChosenByClient?: boolean
}

/** How a list of forms is read. The adapter fills it in, also of a list that fails. */
export interface ListReport {
  /** The index that the engine reads, or the table of trigrams. */
  plan?: string
  /** About how many forms the engine looks at, to count, filter and sort. Only reader threads of SQLite count them. */
  rows?: number
  /** The wait for a reader thread, in milliseconds. */
  waitedMs: number
}

export interface ListOptions {
  signal?: AbortSignal | undefined
  /** Id of the caller. The callers of an organization take turns with large pages. */
  caller?: string | undefined
  report?: ListReport
}

/** An organization that has forms, and the number of those that are not deleted. */
export interface OrganizationForms {
  organizationId: string
  forms: number
}

/** Outcome of an import: `exists` when the store already has an identical record. */
export type Imported = 'imported' | 'exists'

/**
 * The store of drafts and revisions. Every method takes the organization, so no adapter can read across tenants, except
 * `organizations`, for operators, and `findOrganizationOf`, for whose result the gateway authorizes its caller.
 * Each method is atomic, and its result is durable. No transaction spans two methods.
 *
 * Every change of a form, except for replies, records its event in the same step; `context` says who makes it, by default
 * an operator. It throws RequestReplay if `context.request` was carried out before, and REQUEST_ID_REUSED if its id
 * belongs to another request (docs/decisions/0031-number-events-later.md).
 *
 * @throws {ApiError} STORE_UNAVAILABLE from any method when the engine is unreachable; UPDATE_ABORTED from any change when
 *   write conflicts persist for 5 s.
 */
export interface FormsStore extends AsyncDisposable {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth

  /** Undefined, and stores nothing, when the public id is taken. @throws {ApiError} QUOTA_EXCEEDED, FORM_ID_TAKEN. */
  create(form: StoredForm, context?: ChangeContext, options?: CreateOptions): Promise<StoredForm | undefined>

  /** @returns undefined when the organization has no such form, also for a malformed reference. */
  get(ref: FormRef): Promise<StoredForm | undefined>

  /** Like `get`, without the draft, which may be large. */
  getMetadata(ref: FormRef): Promise<FormMetadata | undefined>

  /**
   * A page of forms by keyset: unchanged forms are neither repeated nor missed while others come and go. It ends before
   * `limit` once it has 4 MiB.
   * @throws {ApiError} FILTER_TOO_EXPENSIVE when the list exceeds its time limit. The signal's reason once it aborts.
   */
  list(query: ListFormsQuery, options?: ListOptions): Promise<FormsPage>

  /** Like `list`, without the drafts: the page ends only at `limit`. */
  listSummaries(query: ListFormsQuery, options?: ListOptions): Promise<FormSummariesPage>

  /**
   * Reads the form, changes it outside of any transaction, and stores it by compare-and-set on `version`. An error of
   * `change` leaves the form unchanged. Changes of one form are serialized in a process.
   *
   * @param change pure: called again after a write conflict. Returns its argument to write nothing.
   * @param restored records `form.rolledBack` with this revision instead of `form.updated`.
   * @throws {ApiError} QUOTA_EXCEEDED unless the draft shrinks or there is room; {RequestReplay} before `change` is called.
   */
  update(
    ref: FormRef,
    change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
    context?: ChangeContext,
    restored?: RestoredRevision,
  ): Promise<StoredForm | undefined>

  /**
   * Hides the form, with its revisions and replies, immediately. Once it cannot be restored any more, this process or a
   * later one purges it in small batches.
   * @param check called before the delete, must be fast. An error of it leaves everything unchanged.
   */
  delete(ref: FormRef, check: (current: FormMetadata) => void, context?: ChangeContext): Promise<boolean>

  /** The deleted forms that can be restored, most recently deleted first, by keyset. @throws {ApiError} as `list`. */
  listDeleted(query: ListDeletedFormsQuery, options?: ListOptions): Promise<DeletedFormsPage>

  /**
   * Restores a deleted form before its `purgeTime` as it was: ids, draft, version, times, revisions, `live` and replies.
   * @param check as for `delete`, with the form as it was. To check alone, let it throw.
   * @throws {ApiError} QUOTA_EXCEEDED when the organization has its maximum of forms.
   */
  undelete(
    ref: FormRef,
    check: (deleted: StoredForm) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined>

  /** Purges a deleted form before its time: nobody can restore it, and its ids are free. `check` as for `delete`. */
  purge(ref: FormRef, check: (deleted: FormMetadata) => void, context?: ChangeContext): Promise<boolean>

  /** A deleted form that can be restored. */
  getDeleted(ref: FormRef): Promise<StoredForm | undefined>

  /**
   * Looks a request up, for a dry run. Every change does so itself. A request without an id passes: nothing repeats it.
   * @throws {RequestReplay} when it was carried out before; {ApiError} REQUEST_ID_REUSED when another request was.
   */
  checkRequest(ref: NamedForm, request: IdentifiedRequest | undefined): Promise<void>

  /**
   * Freezes the draft as a revision and moves `live` to it, unless a later revision is live: of two concurrent publishes,
   * the later snapshot stays live. Idempotent: a command creates at most one revision.
   *
   * @param snapshot pure, runs outside of any transaction: called again after a write conflict, also one with a publish
   *   that moved `live`. An error of it leaves nothing behind.
   * @param beforeStoring called right before the revision is stored, with all locks held. An error leaves nothing behind.
   * @param checkRepeat called with the revision that the command already has in this form. An error changes nothing.
   * @returns the form as published; the current form if the command already had a revision; `elsewhere` if the command
   *   has published another form of the organization; undefined if there is no such form.
   * @throws {ApiError} QUOTA_EXCEEDED when the revision exceeds the quota.
   */
  publish(
    ref: FormRef,
    commandId: string,
    snapshot: TakeSnapshot,
    beforeStoring?: () => void,
    context?: ChangeContext,
    checkRepeat?: (earlier: Pick<StoredRevision, 'revisionId' | 'note'>) => void,
  ): Promise<StoredForm | 'elsewhere' | undefined>

  /**
   * No revision has the alias `live` until the next publish. Does not change `updateTime` and `version`. Only a publish
   * whose snapshot is later makes the form live again: a concurrent one takes its snapshot again, and a repeat of an
   * earlier command has no effect.
   *
   * @param note for the event; `""` for none.
   * @param check as for `delete`.
   * @throws {ApiError} FORM_NOT_LIVE.
   */
  unpublish(
    ref: FormRef,
    note: string,
    check: (current: FormMetadata) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined>

  /** Newest first. The page ends before `limit` once it has 4 MiB. @throws {ApiError} as `list`. */
  listRevisions(query: ListRevisionsQuery, options?: ListOptions): Promise<RevisionsPage | undefined>

  /** @param revisionRef a UUID, `live`, or `latest`: the revision with the highest number. */
  getRevision(ref: FormRef, revisionRef: string): Promise<(ListedRevision & RevisionState) | undefined>

  /** Like `getRevision`, without the snapshot, which may be large. */
  getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined>

  /** Counts each `replyId` once; `updateTime` and `version` stay. @returns how many were new; 0 without a form. */
  recordReplies(replies: Replies): Promise<number>

  /** What the organization has, as its quota counts it. */
  usage(organizationId: string): Promise<Usage>

  /** Finds the organization of a form by its public id. */
  findOrganizationOf(publicId: string): Promise<string | undefined>

  /** The organizations that have forms, deleted ones included, ordered by id. */
  organizations(): AsyncIterable<OrganizationForms>

  /**
   * Each form with its revisions and replies, ordered by `publicId`, then the deleted ones that can be restored. Each is
   * a consistent snapshot; a form that is created meanwhile may be missing, and one that is restored comes among the last.
   * @throws {ApiError} UPDATE_ABORTED when a form kept changing.
   */
  exportForms(organizationId: string): AsyncIterable<FormRecord>

  /**
   * Stores an exported form, deleted or not, that is valid by the schema `FormRecord`. It becomes visible as a whole, and
   * a repeat completes an interrupted import. Counts as usage, but no quota rejects it.
   * @throws {ApiError} FORM_CONFLICT, with nothing visible, when the store has another state of the form, or another form
   *   or revision with one of its ids.
   */
  importForm(record: FormRecord, options?: ImportOptions): Promise<Imported>

  /** Resolves if the engine responds. */
  ping(): Promise<void>

  close(): Promise<void>
}
