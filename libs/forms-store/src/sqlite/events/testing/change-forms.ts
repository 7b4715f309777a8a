/**
 * Changes forms of one organization until it is killed, and prints the request id of each acknowledged change.
 *
 *     node change-forms.ts FILE ORGANIZATION_ID
 */
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { FormDraft } from '@fms/contracts'
import type { StoredForm } from '../../../forms-store.ts'
import type { ChangeContext } from '../../../identified-request.ts'
import { makePublicId } from '../../../resource/public-id.ts'
import { toStoredDraft } from '../../../stored-draft.ts'
import { SqliteFormsStore } from '../../forms-store.ts'

const [path = '', organizationId = ''] = process.argv.slice(2)
const store = new SqliteFormsStore(path, { deletedFormsDays: 1 })

const acknowledged = async (change: (context: ChangeContext) => Promise<unknown>) => {
  const httpRequestId = randomUUID()
  await change({ actor: { operator: true }, httpRequestId })
  writeSync(1, `${httpRequestId}\n`)
}

const newForm = (): StoredForm => ({
  organizationId,
  formId: randomUUID(),
  publicId: makePublicId(),
  createTime: new Date(),
  updateTime: new Date(),
  version: 1,
  replyCount: 0,
  live: false,
  ...toStoredDraft(FormDraft.parse({})),
})

const renamed = (current: StoredForm): StoredForm => ({
  ...current,
  version: current.version + 1,
  ...toStoredDraft(FormDraft.parse({ name: `Version ${current.version + 1}` })),
})

const snapshot = () => ({
  revisionId: randomUUID(),
  createTime: new Date(),
  publisher: '',
  note: '',
  formJson: '{}',
})

/** The whole life of one form after another; every second one is deleted, and every fourth one restored. */
const changeForms = async () => {
  for (let count = 0; ; count++) {
    const form = newForm()
    const ref = { organizationId, formRef: form.formId }
    await acknowledged((context) => store.create(form, context))
    await acknowledged((context) => store.update(ref, renamed, context))
    await acknowledged((context) => store.publish(ref, randomUUID(), snapshot, undefined, context))
    if (count % 2 === 0) await acknowledged((context) => store.delete(ref, () => {}, context))
    if (count % 4 === 0) await acknowledged((context) => store.undelete(ref, () => {}, context))
  }
}

await Promise.all(Array.from({ length: 8 }, changeForms))
