import { randomUUID } from 'node:crypto'
import { MongoDatabase } from '@fms/store-kit/mongodb'
import { documentedRequests } from '@fms/testkit/documented-requests'
import { startMongo } from '@fms/testkit/mongodb'
import { describeCommand, recordMongodb } from '@fms/testkit/mongodb-recorder'
import { afterAll, describe, expect, it } from 'vitest'
import { edited, givenForm, newForm, publish, refOf, snapshot } from '../contract/given.ts'
import { type ChangeContext, operatorContext } from '../events/recorded-event.ts'
import type { FormsStore, ListFormsQuery, StoredForm } from '../forms-store.ts'
import { migrateFormsStore } from '../open-forms-store.ts'
import { type ChangeMethod, RequestReplay } from '../requests/identified-request.ts'
import { formsCollections } from './documents.ts'
import { collectEvents } from './events/collect-events.ts'
import { MongoFormsStore } from './forms-store.ts'
import { allow } from './testing.ts'

const mongo = await startMongo(process.env, { quick: true })
await migrateFormsStore(mongo.url)
const recorder = await recordMongodb(mongo.url)
const quota = { forms: 100_000, bytes: 2 ** 40 }
const listTimeoutMs = 1_500
const store: FormsStore = new MongoFormsStore(recorder.url, { quota, listTimeoutMs, clears: false })
const database = new MongoDatabase(mongo.url)
const collections = formsCollections(database)
/** Its deletes can be undone. */
const restoring: FormsStore = new MongoFormsStore(recorder.url, {
  quota,
  listTimeoutMs,
  deletedFormsDays: 30,
  clears: false,
})
afterAll(async () => {
  await Promise.all([store.close(), restoring.close(), database.close()])
  await recorder[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

/** A published form of an organization whose usage is known, beside two forms that are not published. */
const givenPublished = async (): Promise<StoredForm> => {
  const form = await givenForm(store, { draft: { name: 'Customer feedback' } })
  for (let number = 0; number < 2; number++) await givenForm(store, { organizationId: form.organizationId })
  await publish(store, form)
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
  'patch that keeps the size': rename('Customer Feedback'),
  'patch that shrinks the form': rename('Feedback'),
  'patch that enlarges the form': rename('Feedback of our customers'),
  'patch that changes nothing': (form) => store.update(refOf(form), (current) => current),
  publish: (form) => store.publish(refOf(form), randomUUID(), snapshot),
  unpublish: (form) => store.unpublish(refOf(form), '', allow),
  delete: (form) => store.delete(refOf(form), allow),
  'delete that can be undone': (form) => restoring.delete(refOf(form), allow),
  'create with formId': ({ organizationId }) =>
    store.create(newForm({ organizationId }), undefined, { hasClientId: true }),
  'create with requestId': ({ organizationId }) =>
    store.create(newForm({ organizationId }), identified('create')),
  'patch with requestId': (form) =>
    store.update(
      refOf(form),
      (current) => edited(current, { name: 'Customer Feedback' }),
      identified('update'),
    ),
  'delete with requestId': (form) => store.delete(refOf(form), allow, identified('delete')),
  live: (form) => store.getRevision(refOf(form), 'live'),
  'live, not modified': (form) => store.getRevisionState(refOf(form), 'live'),
  revisions: (form) => store.listRevisions({ ...refOf(form), limit: 10, skip: 0 }),
  reply: (form) => store.recordReplies({ ...form, replyIds: [randomUUID()] }),
}

const ofDeleted: Record<string, (form: StoredForm) => Promise<unknown>> = {
  undelete: async (form) => {
    // Its events are in the log, as after a second.
    while ((await collectEvents(collections, 100)) > 0);
    return restoring.undelete(refOf(form), allow)
  },
  purge: (form) => restoring.purge(refOf(form), allow),
  'deleted forms': ({ organizationId }) => restoring.listDeleted({ organizationId, limit: 10, skip: 0 }),
}

describe('the requests to MongoDB', () => {
  it.each(Object.keys(operations))('are as many as documented: %s', async (operation) => {
    const form = await givenPublished()
    recorder.take()

    expect(await operations[operation]!(form)).toBeTruthy()

    const commands = recorder.take().map(describeCommand)
    expect(commands, commands.join(', ')).toHaveLength(documentedRequests(operation))
  })

  it.each(['undelete', 'purge', 'deleted forms'])('are as many as documented: %s', async (operation) => {
    const form = await givenPublished()
    await restoring.delete(refOf(form), allow)
    recorder.take()

    expect(await ofDeleted[operation]!(form)).toBeTruthy()

    const commands = recorder.take().map(describeCommand)
    expect(commands, commands.join(', ')).toHaveLength(documentedRequests(operation))
  })

  it('have the time limit of lists: deleted forms', async () => {
    const form = await givenPublished()
    await restoring.delete(refOf(form), allow)
    recorder.take()

    expect(await ofDeleted['deleted forms']!(form)).toMatchObject({ totalSize: 1 })

    const limits = recorder.take().map(({ maxTimeMS }) => maxTimeMS)
    expect(limits.length).toBeGreaterThan(1)
    expect(new Set(limits)).toEqual(new Set([listTimeoutMs]))
  })

  it('are as many as documented: repeated patch with requestId', async () => {
    const form = await givenPublished()
    const context = identified('update')
    const patch = () => store.update(refOf(form), (current) => edited(current, { name: 'Once' }), context)
    await patch()
    recorder.take()

    await expect(patch()).rejects.toThrow(RequestReplay)

    const commands = recorder.take().map(describeCommand)
    expect(commands, commands.join(', ')).toHaveLength(documentedRequests('repeated patch with requestId'))
  })

  it('are as many as documented: repeated publish', async () => {
    const form = await givenPublished()
    const commandId = randomUUID()
    await store.publish(refOf(form), commandId, snapshot)
    recorder.take()

    expect(await store.publish(refOf(form), commandId, snapshot)).toBeTruthy()

    const commands = recorder.take().map(describeCommand)
    expect(commands, commands.join(', ')).toHaveLength(documentedRequests('repeated publish'))
  })
})
