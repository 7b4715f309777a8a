import { randomUUIDv7 } from 'node:crypto'
import { apiError } from '@fms/aip'
import { type FormPublished, type PreconditionViolation, type PublishForm, userPath } from '@fms/contracts'
import {
  assertIfMatch,
  type ChangeContext,
  type FormsStore,
  formETag,
  formNotFound,
  formToJson,
  requestIdReused,
  type StoredForm,
  type StoredRevision,
  type TakeSnapshot,
} from '@fms/forms-store'
import { flowOf } from '@fms/service-kit'
import type { DraftChecks } from './draft-checks.ts'

export interface PublishDeps {
  forms: FormsStore
  checks: DraftChecks
  publicFormBaseUrl: string
  now: () => Date
}

/** The parts of one delivery of a command beside the command itself. */
export interface Delivery {
  /** Called right before the revision is stored; throws if the deadline is over. */
  assertInTime: () => void
  /** `x-request-id` of the request; `""` for none. */
  httpRequestId: string
}

/**
 * Freezes a draft as a revision and moves `live` to it. A redelivered command finds its revision.
 *
 * @throws {ApiError} FORM_NOT_FOUND, FORM_MOVED, DRAFT_NOT_PUBLISHABLE, BREAKING_CHANGES, REQUEST_ID_REUSED,
 *   QUOTA_EXCEEDED, STORAGE_FULL, which change nothing; STORE_UNAVAILABLE, after which the command should be redelivered.
 */
export const publish = async (
  command: PublishForm,
  deps: PublishDeps,
  { assertInTime, httpRequestId }: Delivery,
): Promise<StoredForm> => {
  const { forms, checks, publicFormBaseUrl, now } = deps
  const snapshot: TakeSnapshot = async (current, readLive) => {
    await check(command, current, readLive, checks)
    return {
      revisionId: randomUUIDv7(),
      createTime: now(),
      publisher: publisherOf(command),
      note: command.note ?? '',
      formJson: formToJson({ ...current, live: true }, publicFormBaseUrl),
    }
  }
  const context = contextOf(command, httpRequestId)
  const checkRepeat = ({ note }: Pick<StoredRevision, 'note'>) => {
    if (note !== (command.note ?? '')) throw reused(command)
  }
  const { commandId } = command
  const published = await forms.publish(command, commandId, snapshot, assertInTime, context, checkRepeat)
  if (!published) throw formNotFound(command)
  if (published === 'elsewhere') throw reused(command)
  return published
}

const reused = ({ organizationId, commandId }: PublishForm) =>
  requestIdReused(organizationId, { requestId: commandId, method: 'publish' })

const contextOf = (command: PublishForm, httpRequestId: string): ChangeContext => ({
  actor: { user: publisherOf(command), key: command.key },
  httpRequestId,
  validateOnly: command.validateOnly,
})

const publisherOf = ({ userId }: PublishForm) => userPath(userId)

export const toFormPublished = (form: StoredForm, publicFormBaseUrl: string): FormPublished => ({
  outcome: 'published',
  formJson: formToJson(form, publicFormBaseUrl),
  etag: formETag(form),
})

const check = async (
  command: PublishForm,
  current: StoredForm,
  readLive: () => Promise<StoredRevision | undefined>,
  checks: DraftChecks,
): Promise<void> => {
  assertIfMatch(command.ifMatch, command, current)
  const violations = await checks.violations(current, flowOf(command))
  if (violations.length > 0) throw rejection('DRAFT_NOT_PUBLISHABLE', violations)
  const live = command.refuseBreaking ? await readLive() : undefined
  const breaking = live ? await checks.breakingChanges(current, live, flowOf(command)) : []
  if (breaking.length > 0) throw rejection('BREAKING_CHANGES', breaking)
}

const rejection = (
  reason: 'DRAFT_NOT_PUBLISHABLE' | 'BREAKING_CHANGES',
  preconditionViolations: PreconditionViolation[],
) => apiError(reason, { subject: preconditionViolations[0]!.subject }, { preconditionViolations })
