import { FormDraft, type FormEvent, type FormRecord } from '@fms/contracts'
import {
  type ChangeContext,
  type FormsStore,
  formToJson,
  type StoredForm,
  toStoredDraft,
} from '@fms/forms-store'

/** What a store of a release has to hold after its migration. */
export interface FormsContent {
  forms: FormRecord[]
  /** Without their ids, which are random. */
  events: (Omit<FormEvent, 'id'> & Pick<FormEvent, 'subject' | 'sequence'>)[]
}

const uuid = (number: number) => `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`
const organizationId = uuid(1)
const otherOrganizationId = uuid(2)
const actor = { user: `users/${uuid(9)}`, key: { id: uuid(8), prefix: 'abcd1234' } } as const

const newForm = (number: number, draft: Partial<FormDraft>): StoredForm => ({
  organizationId,
  formId: uuid(10 + number),
  publicId: `publicId0${number}`,
  createTime: new Date(),
  updateTime: new Date(),
  version: 1,
  replyCount: 0,
  live: false,
  ...toStoredDraft(FormDraft.parse(draft)),
})

const refOf = ({ organizationId, formId }: StoredForm) => ({ organizationId, formRef: formId })

/** Changes each kind of data that a store has. The ids are fixed; times are those of the clock. */
export const fillForms = async (store: FormsStore): Promise<void> => {
  let changes = 0
  const context = (): ChangeContext => ({ actor, httpRequestId: `request ${++changes}` })
  const publish = (form: StoredForm, note = '') => {
    const number = ++changes
    const snapshot = (current: StoredForm) => ({
      revisionId: uuid(100 + number),
      createTime: new Date(),
      publisher: actor.user,
      note,
      formJson: formToJson({ ...current, live: true }, 'http://127.0.0.1:8080/f'),
    })
    return store.publish(refOf(form), uuid(200 + number), snapshot, undefined, context())
  }
  const allow = () => {}

  const changed = newForm(1, { name: 'Größe 😀' })
  const request = { requestId: uuid(3), method: 'create', digest: 'f'.repeat(64) } as const
  await store.create(changed, { ...context(), request })
  await publish(changed, 'First')
  await store.recordReplies({ ...changed, replyIds: [uuid(300), uuid(301)] })
  const renamed = toStoredDraft(FormDraft.parse({ name: 'Feedback', aiHandoff: { enabled: true } }))
  await store.update(refOf(changed), (form) => ({ ...form, version: 2, ...renamed }), context())
  await publish(changed, 'Second')

  const takenDown = newForm(2, { type: 'dynamic', context: ['x'.repeat(6_000)] })
  await store.create(takenDown, context())
  await publish(takenDown)
  await store.unpublish(refOf(takenDown), 'Closed', allow, context())

  const deleted = newForm(3, { name: 'Deleted' })
  await store.create(deleted, context())
  await publish(deleted)
  await store.delete(refOf(deleted), allow, context())

  // Its revision and reply are waiting to be cleared, and another form has its id.
  const purged = newForm(4, { name: 'Purged' })
  await store.create(purged, context())
  await publish(purged)
  await store.recordReplies({ ...purged, replyIds: [uuid(302)] })
  await store.delete(refOf(purged), allow, context())
  await store.purge(refOf(purged), allow, context())
  const again = { ...newForm(5, { name: 'Again' }), formId: purged.formId }
  await store.create(again, context(), { idChosenByClient: true })

  const sameId = { ...newForm(6, {}), organizationId: otherOrganizationId, formId: changed.formId }
  await store.create(sameId, context(), { idChosenByClient: true })
}

/** Everything that a store holds. */
export const readForms = async (store: FormsStore): Promise<FormsContent> => {
  const content: FormsContent = { forms: [], events: [] }
  while ((await store.events.sequence(1_000)) > 0);
  for await (const { organizationId } of store.organizations()) {
    content.forms.push(...(await Array.fromAsync(store.exportForms(organizationId))))
    const events = await store.events.read({ organizationId, limit: 1_000 })
    content.events.push(...events.map(({ id: _, ...event }) => event))
  }
  return content
}
