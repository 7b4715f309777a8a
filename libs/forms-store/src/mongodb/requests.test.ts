import { randomUUID } from 'node:crypto'
import { MongoDatabase } from '@fms/store-kit/mongodb'
import { documentedRequests } from '@fms/testkit/documented-requests'
import { startMongo } from '@fms/testkit/mongodb'
import { describeCommand, recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { afterAll, describe, expect, it } from 'vitest'
import { edited, givenForm, newForm, newRevision, publish, refOf, snapshot } from '../contract/given.ts'
import type { FormsStore, ListFormsQuery, StoredForm } from '../forms-store.ts'
import {
  type ChangeContext,
  type ChangeMethod,
  operatorContext,
  RequestReplay,
} from '../identified-request.ts'
import { migrateFormsStore } from '../open-forms-store.ts'
import { noQuota } from '../quota.ts'
import { newRevisionDocument } from './convert-documents.ts'
import { formsCollections } from './documents.ts'
import { MongoFormsStore } from './forms-store.ts'
import { mongoChanges } from './mongo-changes.ts'
import { MongoQuota } from './usage.ts'

const allow = () => {}

const mongo = await startMongo()
await migrateFormsStore(mongo.url)
const recorder = await recordMongodb(mongo.url)
const listTimeoutMs = 1_500
const options = { listTimeoutMs, clears: false }
const store: FormsStore = new MongoFormsStore(recorder.url, options)
/** Its deletes can be undone. */
const restoring: FormsStore = new MongoFormsStore(recorder.url, { ...options, deletedFormsDays: 30 })
afterAll(async () => {
  await Promise.all([store.close(), restoring.close()])
  await recorder[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

const givenPublished = async (): Promise<StoredForm> => {
  const form = await givenForm(store, { draft: { name: 'Customer feedback' } })
  await publish(store, form)
  return form
}

const givenDeleted = async (): Promise<StoredForm> => {
  const form = await givenPublished()
  await restoring.delete(refOf(form), allow)
  return form
}

const list =
  (query: Partial<ListFormsQuery>) =>
  ({ organizationId }: StoredForm) =>
    store.list({ organizationId, orderBy: [], limit: 2, skip: 0, ...query })

const rename = (name: string) => (form: StoredForm) =>
  store.update(refOf(form), (current) => edited(current, { name }))

/** The context of a change with a new `requestId`. */
const identified = (method: ChangeMethod): ChangeContext => ({
  ...operatorContext,
  request: { requestId: randomUUID(), method, digest: '' },
})

const operations: Record<string, (form: StoredForm) => Promise<unknown>> = {
  get: (form) => store.get(refOf(form)),
  'get by public id': ({ organizationId, publicId }) => store.get({ organizationId, formRef: publicId }),
  'get by public id alone': async ({ publicId }) => {
    const organizationId = await store.findOrganizationOf(publicId)
    return store.get({ organizationId: organizationId!, formRef: publicId })
  },
  list: list({}),
  'filtered list': list({ filter: { kind: 'compare', field: 'type', operator: '=', value: 'structured' } }),
  search: list({ filter: { kind: 'search', field: 'name', text: 'customer' } }),
  'list in an order of several fields': list({
    orderBy: [
      { field: 'name', descending: false },
      { field: 'createTime', descending: true },
    ],
  }),
  create: ({ organizationId }) => store.create(newForm({ organizationId })),
  'create with requestId': ({ organizationId }) =>
    store.create(newForm({ organizationId }), identified('create')),
  'create with formId': ({ organizationId }) =>
    store.create(newForm({ organizationId }), undefined, { idChosenByClient: true }),
  patch: rename('Feedback of our customers'),
  'patch with requestId': (form) =>
    store.update(refOf(form), (current) => edited(current, { name: 'Feedback' }), identified('update')),
  'patch that changes nothing': (form) => store.update(refOf(form), (current) => current),
  publish: (form) => store.publish(refOf(form), randomUUID(), snapshot),
  unpublish: (form) => store.unpublish(refOf(form), '', allow),
  'unpublish with requestId': (form) => store.unpublish(refOf(form), '', allow, identified('unpublish')),
  delete: (form) => restoring.delete(refOf(form), allow),
  'delete with requestId': (form) => restoring.delete(refOf(form), allow, identified('delete')),
  'delete for good': (form) => store.delete(refOf(form), allow),
  live: (form) => store.getRevision(refOf(form), 'live'),
  'live, not modified': (form) => store.getRevisionState(refOf(form), 'live'),
  revisions: (form) => store.listRevisions({ ...refOf(form), limit: 10, skip: 0 }),
  reply: (form) => store.recordReplies({ ...form, replyIds: [randomUUID()] }),
}

const ofDeleted: Record<string, (form: StoredForm) => Promise<unknown>> = {
  undelete: (form) => restoring.undelete(refOf(form), allow),
  'undelete with requestId': (form) => restoring.undelete(refOf(form), allow, identified('undelete')),
  purge: (form) => restoring.purge(refOf(form), allow),
  'purge with requestId': (form) => restoring.purge(refOf(form), allow, identified('purge')),
  'deleted forms': ({ organizationId }) => restoring.listDeleted({ organizationId, limit: 10, skip: 0 }),
}

const expectDocumented = (operation: string) => {
  const commands = recorder.take().map(describeCommand)
  expect(commands, commands.join(', ')).toHaveLength(documentedRequests(operation))
}

describe('the requests to MongoDB are as many as documented:', () => {
  it.each(Object.keys(operations))('%s', async (operation) => {
    const form = await givenPublished()
    recorder.take()

    expect(await operations[operation]!(form)).toBeTruthy()

    expectDocumented(operation)
  })

  it.each(Object.keys(ofDeleted))('%s', async (operation) => {
    const form = await givenDeleted()
    recorder.take()

    expect(await ofDeleted[operation]!(form)).toBeTruthy()

    expectDocumented(operation)
  })

  it('repeated patch with requestId', async () => {
    const form = await givenPublished()
    const context = identified('update')
    const patch = () => store.update(refOf(form), (current) => edited(current, { name: 'Once' }), context)
    await patch()
    recorder.take()

    await expect(patch()).rejects.toThrow(RequestReplay)

    expectDocumented('repeated patch with requestId')
  })

  it('repeated publish', async () => {
    const form = await givenPublished()
    const commandId = randomUUID()
    await store.publish(refOf(form), commandId, snapshot)
    recorder.take()

    expect(await store.publish(refOf(form), commandId, snapshot)).toBeTruthy()

    expectDocumented('repeated publish')
  })
})

it('the revisions of an interrupted import are looked up with one request for all of them', async () => {
  const form = newForm()
  const revisions = [1, 2, 3].map((number) => newRevision(form, { number }))
  const incarnation = randomUUID()
  const database = new MongoDatabase(recorder.url)
  await using _ = database
  const collections = formsCollections(database)
  for (const revision of revisions)
    await collections.revisions.insert(newRevisionDocument(revision, incarnation))
  const changes = mongoChanges(collections, new MongoQuota(collections, noQuota))
  recorder.take()

  const found = await changes.findRevisions(form.organizationId, revisions)

  expect(found.map(({ isHeld }) => isHeld)).toEqual(Array(6).fill(false))
  expect(recorder.take().filter(({ find }) => find === 'forms')).toHaveLength(1)
})

it('deleted forms are listed within the time limit of lists', async () => {
  const form = await givenDeleted()
  recorder.take()

  expect(await ofDeleted['deleted forms']!(form)).toMatchObject({ totalSize: 1 })

  const limits = recorder.take().map(({ maxTimeMS }) => maxTimeMS)
  expect(limits.length).toBeGreaterThan(1)
  expect(new Set(limits)).toEqual(new Set([listTimeoutMs]))
})

it('no transaction has a stage that MongoDB does not allow there, not even near a quota', async () => {
  await using limited = new MongoFormsStore(recorder.url, { ...options, quota: { forms: 2, bytes: 0 } })
  const form = await givenForm(limited)
  recorder.take()

  await givenForm(limited, { organizationId: form.organizationId })

  const inTransaction = recorder.take().filter(({ autocommit }) => autocommit === false)
  const aggregates = inTransaction.filter(({ aggregate }) => aggregate)
  expect(aggregates.length).toBeGreaterThan(0)
  expect(JSON.stringify(aggregates)).not.toContain('$unionWith')
  await expect(givenForm(limited, { organizationId: form.organizationId })).rejects.toMatchObject({
    reason: 'QUOTA_EXCEEDED',
  })
})
