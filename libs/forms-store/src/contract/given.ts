import { randomInt, randomUUID } from 'node:crypto'
import { FormDraft } from '@fms/contracts'
import { afterAll, beforeAll } from 'vitest'
import { parseDraft, parseRevision, serializeDraft } from '../draft-text.ts'
import type {
  FormRef,
  FormsStore,
  FormsStoreOptions,
  FormText,
  ListRevisionsQuery,
  Snapshot,
  StoredForm,
  StoredRevision,
} from '../forms-store.ts'
import { formToJson, toForm } from '../resource/form-to-json.ts'
import { toFormRecord } from '../resource/stored-form-record.ts'

/** Opens the store of a contract; it may hold what earlier tests left. */
export type OpenStore = (options?: FormsStoreOptions) => Promise<FormsStore>

/** One store for all tests of the enclosing `describe`. */
export const openStore = (open: OpenStore, options?: FormsStoreOptions): (() => FormsStore) => {
  let store: FormsStore
  beforeAll(async () => {
    store = await open(options)
  })
  afterAll(() => store.close())
  return () => store
}

/** A whole number of milliseconds after an instant that all tests share. */
export const time = (ms: number) => new Date(Date.UTC(2026, 10, 20, 9, 30) + ms)

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const newPublicId = () =>
  Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('')

interface FormFields extends Partial<Omit<StoredForm, 'draft'>> {
  draft?: Partial<FormDraft>
}

/** A form that the store has not seen, of an organization that it has not seen unless `fields` names one. */
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
  draft: FormDraft.parse(draft ?? {}),
})

export const create = (store: FormsStore, form: StoredForm): Promise<boolean> =>
  store.create(serializeDraft(form))

/** Changes a draft as an object. */
export const update = async (
  store: FormsStore,
  ref: FormRef,
  change: (current: StoredForm) => StoredForm,
): Promise<StoredForm | undefined> => {
  const updated = await store.update(ref, (current) => {
    const stored = parseDraft(current)
    const changed = change(stored)
    return changed === stored ? current : serializeDraft(changed)
  })
  return updated && parseDraft(updated)
}

/** A new form, stored. */
export const givenForm = async (store: FormsStore, fields?: FormFields): Promise<StoredForm> => {
  const form = newForm(fields)
  if (!(await create(store, form))) throw new Error('The public id is taken')
  return form
}

export const refOf = ({ organizationId, formId }: StoredForm): FormRef => ({
  organizationId,
  formRef: formId,
})

/** The form after an edit of its draft. */
export const edited = (form: StoredForm, draft: Partial<FormDraft>): StoredForm => ({
  ...form,
  version: form.version + 1,
  updateTime: new Date(form.updateTime.getTime() + 1),
  draft: { ...form.draft, ...draft },
})

export const newRevision = (form: StoredForm, fields: Partial<StoredRevision> = {}): StoredRevision => ({
  organizationId: form.organizationId,
  formId: form.formId,
  revisionId: randomUUID(),
  number: 1,
  commandId: randomUUID(),
  createTime: time(1),
  form: toForm({ ...form, live: true }, 'http://127.0.0.1:8080/f'),
  ...fields,
})

/** Freezes the form as it is. */
export const snapshot = (current: FormText): Snapshot => ({
  revisionId: randomUUID(),
  createTime: time(1),
  formJson: formToJson({ ...current, live: true }, 'http://127.0.0.1:8080/f'),
})

/** @returns the revision that a new command made. */
export const publish = async (
  store: FormsStore,
  { organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId'>,
  commandId: string = randomUUID(),
): Promise<StoredRevision> => {
  await store.publish({ organizationId, formRef: formId }, commandId, snapshot)
  return (await store.findRevisionOfCommand(organizationId, commandId))!
}

/** A form with these revisions, of which that of `liveNumber` is live. */
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

/** As many promises at once. */
export const atOnce = <T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => start(index)))

/** A revision with its snapshot parsed, and whether it is live. */
export const findRevision = async (store: FormsStore, ref: FormRef, revisionRef: string) => {
  const found = await store.getRevision(ref, revisionRef)
  return found && { ...found, revision: parseRevision(found.revision) }
}

/** A page of revisions with their snapshots parsed. */
export const revisionsOn = async (store: FormsStore, query: ListRevisionsQuery) => {
  const page = await store.listRevisions(query)
  const parsed = page?.revisions.map(({ revision, live }) => ({ revision: parseRevision(revision), live }))
  return page && { ...page, revisions: parsed! }
}
