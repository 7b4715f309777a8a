import { randomUUID } from 'node:crypto'
import type { FormPublished, PublishForm } from '@fms/contracts'
import {
  demandIfMatch,
  type FormRef,
  type FormsStore,
  formETag,
  formNotFound,
  type StoredForm,
  type StoredRevision,
  toForm,
} from '@fms/forms-store'
import { publishViolations } from './domain/publish-checks.ts'
import { draftNotPublishable, requestIdReused } from './errors.ts'

export interface PublishDeps {
  forms: FormsStore
  publicFormBaseUrl: string
  now: () => Date
}

/**
 * Freezes a form's draft as a revision and moves `live` to it, in steps that may each run twice: take the draft and
 * its number at once, store the snapshot under the command's id, move the alias forward. A command that comes again
 * finds its revision and goes on from there.
 *
 * @throws {ApiError} FORM_NOT_FOUND, FORM_MOVED, DRAFT_NOT_PUBLISHABLE, REQUEST_ID_REUSED, which leave nothing
 *   behind; STORE_UNAVAILABLE, after which the command should come again.
 */
export const publish = async (command: PublishForm, deps: PublishDeps): Promise<FormPublished> => {
  const { forms, publicFormBaseUrl } = deps
  const ref: FormRef = command
  const answer = (form: StoredForm): FormPublished => ({
    outcome: 'published',
    form: toForm({ ...form, live: true }, publicFormBaseUrl),
    etag: formETag({ ...form, live: true }),
  })

  const earlier = await forms.findRevisionOfCommand(command.organizationId, command.commandId)
  if (earlier) return answer(await finish(earlier, command, deps))

  const check = (form: StoredForm) => {
    demandIfMatch(command.ifMatch, ref, form)
    const violations = publishViolations(form.draft)
    if (violations.length > 0) throw draftNotPublishable(violations)
  }
  if (command.validateOnly) {
    const form = await forms.get(ref)
    if (!form) throw formNotFound(ref)
    check(form)
    return answer(form)
  }

  const taken = await forms.takeRevisionNumber(ref, check)
  if (!taken) throw formNotFound(ref)
  const revision = snapshot(command, taken, deps)
  switch (await forms.insertRevision(revision)) {
    case 'gone':
      throw formNotFound(ref)
    case 'exists':
      // The same command, or another with the same requestId, was faster.
      return publish(command, deps)
    case 'inserted': {
      const form = await forms.moveLive(revision)
      if (!form) throw formNotFound(ref)
      return answer(form)
    }
  }
}

/** A repeat: the alias may still have to move. */
const finish = async (
  revision: StoredRevision,
  command: PublishForm,
  { forms }: PublishDeps,
): Promise<StoredForm> => {
  const form = await forms.get(command)
  if (!form) throw formNotFound(command)
  if (form.formId !== revision.formId) throw requestIdReused(command.commandId)
  if (command.validateOnly) return form
  const moved = await forms.moveLive(revision)
  if (!moved) throw formNotFound(command)
  return moved
}

const snapshot = (
  { commandId }: PublishForm,
  { form, number }: { form: StoredForm; number: number },
  { publicFormBaseUrl, now }: PublishDeps,
): StoredRevision => ({
  organizationId: form.organizationId,
  formId: form.formId,
  revisionId: randomUUID(),
  number,
  commandId,
  createTime: now(),
  form: toForm({ ...form, live: true }, publicFormBaseUrl),
})
