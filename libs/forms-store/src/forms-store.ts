import type { CheckedFilter } from '@fms/aip'
import type { FormDraft, FormRecord } from '@fms/contracts'
import type { FormOrderTerm, FormPosition } from './lists/form-order.ts'

/** A form without its draft. */
export interface FormState {
  /** Lower-case UUIDs. */
  organizationId: string
  formId: string
  /** 10 letters and digits, unique over the whole service. */
  publicId: string
  createTime: Date
  /** Strictly increases with each change of the draft. */
  updateTime: Date
  /** Counts the changes of the draft, from 1: what compare-and-set and `If-Match` compare. */
  version: number
  replyCount: number
  /** Whether a revision carries the alias `live`. */
  live: boolean
}

/** A draft as JSON, and copies of the members that the store filters, sorts and shows by: see `toStoredDraft`. */
export interface StoredDraft {
  /** The draft as `JSON.stringify` writes it, without white space. */
  draftJson: string
  name: string
  type: FormDraft['type']
  /** Whether AI Handoff is enabled. */
  aiHandoff: boolean
}

/** A form as the store keeps it. `parseDraft` gives its draft. */
export interface StoredForm extends FormState, StoredDraft, JsonBytes {}

/** The JSON of a draft or a snapshot in UTF-8, ready to send. Present on items that a worker thread read. */
export interface JsonBytes {
  jsonBytes?: Uint8Array
}

/** Identifies one form as a caller does: the organization by its canonical id, the form by UUID or public id. */
export interface FormRef {
  organizationId: string
  formRef: string
}

/** A published snapshot. Immutable; the form records which revision is live. `parseSnapshot` gives the form in it. */
export interface StoredRevision extends JsonBytes {
  organizationId: string
  formId: string
  revisionId: string
  /** Position among the form's revisions: grows with each snapshot, with gaps. */
  number: number
  /** The command that made it; unique in its organization. */
  commandId: string
  createTime: Date
  /** The form as it was published, as JSON. */
  formJson: string
}

/** The part of a revision that a publish takes from the form. */
export interface Snapshot {
  revisionId: string
  createTime: Date
  /** The form as it is published, as JSON. */
  formJson: string
}

export interface ListFormsQuery {
  organizationId: string
  filter?: CheckedFilter
  orderBy: readonly FormOrderTerm[]
  /** Where the page before ended. */
  after?: FormPosition
  limit: number
  skip: number
}

export interface FormsPage {
  forms: StoredForm[]
  /** Where the next page begins; absent on the last one. */
  next?: FormPosition
  /** All forms that match, on whatever page. */
  totalSize: number
}

export interface ListRevisionsQuery extends FormRef {
  /** The number of the last revision of the page before. */
  after?: number
  limit: number
  skip: number
}

export interface RevisionsPage {
  revisions: ListedRevision[]
  next?: number
  totalSize: number
}

export interface ListedRevision {
  revision: StoredRevision
  live: boolean
}

/** As many replies are counted in one change. */
export const maxRepliesPerChange = 100

/** Replies of one form that are to be counted. */
export interface Replies {
  organizationId: string
  formId: string
  /** Lower-case UUIDs, at most {@link maxRepliesPerChange}. */
  replyIds: readonly string[]
}

/** What can change of a revision as it is read, and what `live` shows of the current draft. */
export interface RevisionState {
  revisionId: string
  live: boolean
  /** Of the current draft. */
  aiHandoff: boolean
}

/** What an organization has, or what a change adds to that. */
export interface Usage {
  forms: number
  /** Of drafts and revisions as JSON in UTF-8; those of a deleted form are counted until they are cleared. */
  bytes: number
}

/** The most that an organization may have; 0 for any number. */
export type Quota = Readonly<Usage>

export interface FormsStoreOptions {
  /** Leaves a SQLite file untouched: it is neither made nor migrated. */
  readOnly?: boolean
  /** What each organization may have; without it, any number. */
  quota?: Quota
  /** How long a list may take, in milliseconds; 2,000 by default. */
  listTimeoutMs?: number
}

export interface ListOptions {
  /** Aborts when the page is no longer needed: it is sent, or nobody waits for it. Until then it keeps its place. */
  signal?: AbortSignal | undefined
  /** Whose list it is: each caller has a few places, so that none waits for the pages of another. */
  caller?: string | undefined
}

/** An organization that has forms, and how many. */
export interface OrganizationForms {
  organizationId: string
  forms: number
}

/** What an import did: `exists` when the store has the very same already. */
export type Imported = 'imported' | 'exists'

/**
 * Where drafts and revisions live. Every method names the organization, so no adapter can read across tenants;
 * `organizations` alone is for operators, who move data, and `findOrganizationOf` for the gateway, which authorizes its
 * caller for what it finds.
 * Each method is atomic by itself, none spans another; what it resolves with is durable.
 * Any method throws UNAVAILABLE (`STORE_UNAVAILABLE`) when the engine cannot be reached.
 */
export interface FormsStore extends AsyncDisposable {
  /**
   * @returns false, and stores nothing, when the public id is taken.
   * @throws {ApiError} QUOTA_EXCEEDED when the organization has no room for it.
   */
  create(form: StoredForm): Promise<boolean>

  /** @returns undefined for a reference that names nothing here, whatever it looks like. */
  get(ref: FormRef): Promise<StoredForm | undefined>

  /** What `get` finds, without its draft, which may be large. */
  getState(ref: FormRef): Promise<FormState | undefined>

  /**
   * A page by keyset: forms that nobody touched are neither repeated nor missed while others come and go.
   * It may end before `limit`, once it holds 4 MiB.
   *
   * @throws {ApiError} FILTER_TOO_EXPENSIVE when it takes longer than a list may; OVERLOADED when too many such lists
   *   wait for their turn. The signal's reason once that aborts.
   */
  list(query: ListFormsQuery, options?: ListOptions): Promise<FormsPage>

  /**
   * Reads and changes the draft outside of any transaction, and stores it by compare-and-set on `version`. What `change`
   * throws leaves the form as it was. Changes of one form run one after the other in a process.
   *
   * @param change pure: it may be called again after a lost race. Returning its argument writes nothing.
   * @returns the form as it is stored, or undefined when there is none.
   * @throws {ApiError} ABORTED when the race was still lost at the deadline, 5 s after the call; QUOTA_EXCEEDED when
   *   the draft grew and the organization has no room for it.
   */
  update(
    ref: FormRef,
    change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
  ): Promise<StoredForm | undefined>

  /**
   * Deletes the form, and with it its revisions and what is known of its replies: nobody sees anything of them from then
   * on. They are cleared afterwards in small batches, by this process or by one that has the store open later.
   *
   * @param check short; throws to refuse, which leaves everything as it was.
   * @returns false when there is no such form.
   */
  delete(ref: FormRef, check: (current: FormState) => void): Promise<boolean>

  /** The revision that a command made, wherever in the organization. */
  findRevisionOfCommand(organizationId: string, commandId: string): Promise<StoredRevision | undefined>

  /**
   * Freezes the draft as a revision and moves `live` to it, unless it stands on a later one: of two publishes at once,
   * the later snapshot is live in the end. May be repeated: a command that has a revision makes no second one.
   *
   * @param snapshot pure, and outside of any transaction: it may be called again after a lost race. What it throws
   *   leaves nothing behind.
   * @param beforeStoring called right before the revision is stored, when every lock is held. What it throws leaves
   *   nothing behind.
   * @returns the form as the new revision holds it, live; the form as it is now when the command had its revision;
   *   `elsewhere` when the command has published another form of the organization; undefined when there is no such
   *   form, or no longer.
   * @throws {ApiError} ABORTED when others kept changing the form until the deadline, 5 s after the call;
   *   QUOTA_EXCEEDED when the organization has no room for the revision.
   */
  publish(
    ref: FormRef,
    commandId: string,
    snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>,
    beforeStoring?: () => void,
  ): Promise<StoredForm | 'elsewhere' | undefined>

  /**
   * Newest first. A page may end before `limit`, once it holds 4 MiB.
   *
   * @returns undefined when there is no such form.
   * @throws as `list` does.
   */
  listRevisions(query: ListRevisionsQuery, options?: ListOptions): Promise<RevisionsPage | undefined>

  /**
   * @param revisionRef a UUID, or `live`.
   * @returns undefined when there is no such form or revision.
   */
  getRevision(ref: FormRef, revisionRef: string): Promise<(ListedRevision & RevisionState) | undefined>

  /** What `getRevision` finds, without its snapshot, which may be large. */
  getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined>

  /**
   * Counts replies of one form in one change, each `replyId` once, however often it comes. Leaves `updateTime` and
   * `version` alone.
   *
   * @returns how many were counted now; none when there is no such form.
   * @throws {ApiError} ABORTED when others kept changing the form until the deadline.
   */
  recordReplies(replies: Replies): Promise<number>

  /** What the organization has, as its quota counts it. */
  usage(organizationId: string): Promise<Usage>

  /**
   * Looks whether an organization has room, as every change that grows does by itself: for dry runs.
   *
   * @throws {ApiError} QUOTA_EXCEEDED.
   */
  checkQuota(organizationId: string, growth: Usage): Promise<void>

  /** The organization that has the form with this public id; undefined where there is no such form. */
  findOrganizationOf(publicId: string): Promise<string | undefined>

  /** In order of their ids. */
  organizations(): AsyncIterable<OrganizationForms>

  /**
   * Everything that is known of each form, in order of `publicId`: one form after the other, each as it is at one
   * instant. A form that comes or goes meanwhile may be missing.
   *
   * @throws {ApiError} ABORTED when others kept changing a form.
   */
  exportForms(organizationId: string): AsyncIterable<FormRecord>

  /**
   * Stores a form as it was exported. Nothing of it is visible before all of it is there, and a repeat finishes an
   * import that was interrupted. Counted, and never refused by a quota: an operator moves what is there already.
   *
   * @param record sound, as the schema `FormRecord` has it.
   * @throws {ApiError} FORM_CONFLICT, and nothing is visible, when the store has the form in another state, or one of
   *   its ids elsewhere.
   */
  importForm(record: FormRecord): Promise<Imported>

  /** Resolves while the engine answers. */
  ping(): Promise<void>

  close(): Promise<void>
}
