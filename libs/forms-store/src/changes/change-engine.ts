import type { FormPath, FormRecord } from '@fms/contracts'
import type { writeConflict } from '@fms/store-kit'
import type { FormRef, Replies, StoredForm, StoredRevision } from '../forms-store.ts'
import type { IdentifiedRequest } from '../identified-request.ts'
import type { Change, FoundDraft, FoundForm } from './change.ts'
import type { EarlierRequest } from './reject-repeat.ts'

/** Without a `revisionId`: the revision of a command. */
export type RevisionIds = Pick<StoredRevision, 'commandId'> & Partial<Pick<StoredRevision, 'revisionId'>>

/** A stored revision, possibly of a form that is gone. */
export interface FoundRevision
  extends Pick<StoredRevision, 'organizationId' | 'formId' | 'revisionId' | 'commandId' | 'number' | 'note'> {
  incarnation: FoundForm['incarnation']
  /** Whether its form exists, deleted or not. If not, the revision is waiting to be cleared, and `formId` may be `""`. */
  isHeld: boolean | number
}

/**
 * How an engine reads what a change is decided on, and makes the change atomic. The rules are in the functions beside this
 * file, and the loop that connects them is `FormChanges`.
 *
 * Reads return what no failover rolls back, acknowledged changes included.
 */
export interface ChangeEngine {
  /** @param isDeleted whether to look among the deleted forms that can be restored, or among the others. */
  findForm(ref: FormRef, isDeleted: boolean): Promise<FoundForm | undefined>

  findDraft(ref: FormRef, isDeleted: boolean): Promise<FoundDraft | undefined>

  /** The request with the same id and method that was carried out before. */
  findRequest(organizationId: string, request: IdentifiedRequest): Promise<EarlierRequest | undefined>

  /** Which ids of a new form are taken: its `formId`, by a form that is deleted or not, or its `publicId`. */
  findTakenId(
    form: FormPath & Pick<StoredForm, 'publicId'>,
  ): Promise<'formId' | 'deletedFormId' | 'publicId' | undefined>

  /** The time of the newest event of a form's id, whether the form exists or not; the epoch for none. */
  lastTimeOf(form: FormPath): Promise<Date>

  /** Revisions of any organization that have a `revisionId` of those given, and of this one that have a `commandId`. */
  findRevisions(organizationId: string, revisions: readonly RevisionIds[]): Promise<FoundRevision[]>

  readLive(form: FoundForm): Promise<StoredRevision | undefined>

  /** The forms of an organization, either the deleted ones that can be restored or the others, ordered by `publicId`. */
  formsByPublicId(
    organizationId: string,
    isDeleted: boolean,
  ): AsyncIterable<FormPath & Pick<StoredForm, 'publicId'>>

  /** A form, deleted or not, with its history, in one snapshot. */
  readRecord(form: FormPath): Promise<FormRecord | undefined>

  /**
   * Stores a change. Also rejects it where an id, the request or a command is taken: the next attempt finds by whom. Likewise
   * a new form that is not later than the events of its id.
   *
   * @returns false, with nothing changed, if the form is not as it was found.
   * @throws {ApiError} QUOTA_EXCEEDED; what `beforeStoring` throws.
   */
  apply(change: Change): Promise<boolean>

  /** Checks quota and disk as {@link apply} does. @throws {ApiError} QUOTA_EXCEEDED, STORAGE_FULL. */
  checkRoom(change: Change): Promise<void>

  /** Counts replies of a form, deleted or not, that were not counted before. @returns how many there were. */
  recordReplies(replies: Replies): Promise<number | typeof writeConflict>

  /** Deleted forms whose `purgeTime` has passed, by their ids. */
  findDue(limit: number): Promise<FormRef[]>

  /** Whether a deleted form is one of those. */
  isDue(form: FoundForm): Promise<boolean>

  /** Clears forms that are gone, or one of them, in small batches, and subtracts what they had from the usage. */
  clearRemains(signal?: AbortSignal, incarnation?: FoundForm['incarnation']): Promise<void>
}
