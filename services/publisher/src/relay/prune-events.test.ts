import { randomUUID } from 'node:crypto'
import {
  type ChangeContext,
  migrateFormsStore,
  openFormsStore,
  operatorContext,
  RequestReplay,
} from '@fms/forms-store'
import { startMongo } from '@fms/testkit/mongodb'
import { expect, it } from 'vitest'
import { givenForm } from '../testing.ts'

const dayMs = 24 * 60 * 60 * 1000

it('keeps the memory of requests on MongoDB for the whole retention, and prunes it afterwards', async () => {
  await using mongo = await startMongo()
  await migrateFormsStore(mongo.url)
  await using forms = await openFormsStore(mongo.url)
  const { organizationId, formId } = await givenForm(forms)
  const request = { requestId: randomUUID(), method: 'update', digest: '' } as const
  const context: ChangeContext = { ...operatorContext, request }
  const rename = () =>
    forms.update(
      { organizationId, formRef: formId },
      (form) => ({ ...form, name: randomUUID(), updateTime: new Date() }),
      context,
    )
  await rename()
  // Retention keeps the newest event, and those that are not in the stream.
  await forms.delete({ organizationId, formRef: formId }, () => {})
  await forms.events.sequence(10)
  await forms.events.markStreamed(organizationId, 3)
  const pruneAfter = (ms: number) => forms.events.prune(new Date(Date.now() + ms - dayMs), 100, 0)

  await pruneAfter(dayMs - 60_000)
  await expect(rename()).rejects.toBeInstanceOf(RequestReplay)

  await pruneAfter(dayMs + 60_000)
  expect(await rename()).toBeUndefined()
})
