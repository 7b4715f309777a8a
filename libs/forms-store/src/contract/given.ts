import { randomInt, randomUUID } from 'node:crypto'
import { draftSummaryFields, FormDraft, type FormRecord } from '@fms/contracts'
import { afterAll, beforeAll } from 'vitest'
import type {
  FormMetadata,
  FormRef,
  FormsStore,
  FormsStoreOptions,
  Snapshot,
  StoredForm,
  StoredRevision,
} from '../forms-store.ts'
import { type ChangeContext, operatorContext } from '../identified-request.ts'
import { formToJson } from '../resource/form-to-json.ts'
import { parseDraft, toStoredDraft } from '../stored-draft.ts'
import { revisionsOf, toFormRecord } from '../stored-form-record.ts'

/** Opens the store under test, which may contain data of earlier tests. */
export type OpenStore = (options?: FormsStoreOptions) => Promise<FormsStore>

/** Opens one new store several times, as several processes do. */
export type OpenStoreTogether = (count: number) => Promise<FormsStore[]>

/** One store for all tests of the enclosing `describe`. */
export const openStore = (open: OpenStore, options?: FormsStoreOptions): (() => FormsStore) => {
  let store: FormsStore
  beforeAll(async () => {
    store = await open(options)
  })
  afterAll(() => store.close())
  return () => store
}

export const dryRun: ChangeContext = { ...operatorContext, validateOnly: true }

/** The time `ms` milliseconds after a fixed instant. */
export const time = (ms: number) => new Date(Date.UTC(2026, 10, 20, 9, 30) + ms)

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const newPublicId = () =>
  Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('')

interface FormFields extends Partial<FormMetadata> {
  draft?: Partial<FormDraft>
}

/** A form that is not stored, of a new organization unless `fields` has one. */
export const newForm = ({ draft, ...fields }: FormFields = {}): StoredForm => ({
  organizationId: randomUUID(),
  formId: randomUUID(),
  publicId: newPublicId(),
  createTime: time(0),
  updateTime: time(0),
  version: 1,
  replyCount: 0,
  live: false,
  ...fields,
  ...toStoredDraft(FormDraft.parse(draft ?? {})),
})

/** A new form, stored. */
export const givenForm = async (store: FormsStore, fields?: FormFields): Promise<StoredForm> => {
  const form = newForm(fields)
  const options = { idChosenByClient: fields?.formId !== undefined }
  if (!(await store.create(form, undefined, options))) throw new Error('The public id is taken')
  return form
}

const draftMembers = ['draftJson', 'aiHandoff', ...draftSummaryFields] as readonly string[]

/** A form without its draft. */
export const metadataOf = (form: StoredForm): FormMetadata =>
  Object.fromEntries(
    Object.entries(form).filter(([name]) => !draftMembers.includes(name)),
  ) as unknown as FormMetadata

export const refOf = ({ organizationId, formId }: StoredForm): FormRef => ({
  organizationId,
  formRef: formId,
})

/** The form after an edit of its draft. */
export const edited = (form: StoredForm, draft: Partial<FormDraft>): StoredForm => ({
  ...form,
  version: form.version + 1,
  updateTime: new Date(form.updateTime.getTime() + 1),
  ...toStoredDraft({ ...parseDraft(form), ...draft }),
})

export const newRevision = (form: StoredForm, fields: Partial<StoredRevision> = {}): StoredRevision => ({
  organizationId: form.organizationId,
  formId: form.formId,
  revisionId: randomUUID(),
  number: 1,
  commandId: randomUUID(),
  createTime: time(1),
  publisher: `users/${randomUUID()}`,
  note: 'Noted',
  formJson: formToJson({ ...form, live: true }, 'http://127.0.0.1:8080/f'),
  ...fields,
})

/** The snapshot of a form. */
export const snapshot = (current: StoredForm): Snapshot => ({
  revisionId: randomUUID(),
  createTime: time(1),
  publisher: '',
  note: '',
  formJson: formToJson({ ...current, live: true }, 'http://127.0.0.1:8080/f'),
})

/** Publishes a form. @returns the new revision. */
export const publish = async (
  store: FormsStore,
  { organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId'>,
  commandId: string = randomUUID(),
): Promise<StoredRevision> => {
  const ref = { organizationId, formRef: formId }
  let revision: Pick<StoredRevision, 'revisionId'> | undefined
  const take = (current: StoredForm) => (revision = snapshot(current))
  await store.publish(ref, commandId, take, undefined, undefined, (earlier) => (revision = earlier))
  return (await store.getRevision(ref, revision!.revisionId))!.revision
}

/** The revision that a command created, of any form of the organization, deleted or not. */
export const revisionOf = async (
  store: FormsStore,
  organizationId: string,
  commandId: string,
): Promise<StoredRevision | undefined> =>
  (await exported(store, organizationId))
    .flatMap(revisionsOf)
    .find((revision) => revision.commandId === commandId)

/** A stored form with revisions of these numbers; `liveNumber` is live. */
export const givenRevisions = async (
  store: FormsStore,
  numbers: number[],
  liveNumber = 0,
): Promise<{ form: StoredForm; revisions: StoredRevision[] }> => {
  const form = newForm({ live: liveNumber > 0 })
  const revisions = numbers.map((number) => newRevision(form, { number }))
  const live = revisions.find(({ number }) => number === liveNumber)
  await store.importForm(
    toFormRecord(form, {
      revisionNumber: Math.max(...numbers),
      liveNumber,
      liveRevisionId: live?.revisionId ?? null,
      revisions,
      replyIds: [],
    }),
  )
  return { form, revisions }
}

/** The records of all forms of an organization, deleted ones last. */
export const exported = (store: FormsStore, organizationId: string): Promise<FormRecord[]> =>
  Array.fromAsync(store.exportForms(organizationId))

/** Starts `count` promises concurrently. */
export const atOnce = <T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => start(index)))
