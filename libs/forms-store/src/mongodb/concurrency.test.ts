import { randomUUID } from 'node:crypto'
import { startMongo } from '@fms/testkit/mongodb'
import { recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { afterAll, describe, expect, it } from 'vitest'
import { atOnce, edited, givenForm, newForm, publish, refOf } from '../contract/given.ts'
import { migrateFormsStore } from '../open-forms-store.ts'
import { MongoFormsStore } from './forms-store.ts'

const mongo = await startMongo()
await migrateFormsStore(mongo.url)
const recorder = await recordMongodb(mongo.url)
const options = { quota: { forms: 100_000, bytes: 10 * 2 ** 30 }, deletedFormsDays: 30, clears: false }
const store = new MongoFormsStore(recorder.url, options)
afterAll(async () => {
  await store.close()
  await recorder[Symbol.asyncDispose]()
  await mongo[Symbol.asyncDispose]()
})

/** How often each command was sent. */
const countsOf = (names: readonly string[]) => {
  const commands = recorder.take()
  return Object.fromEntries(
    names.map((name) => [name, commands.filter((command) => Object.hasOwn(command, name)).length]),
  )
}

describe('16 writers of one organization', () => {
  it.each<[string, (form: ReturnType<typeof newForm>) => Promise<unknown>]>([
    ['create forms', ({ organizationId }) => givenForm(store, { organizationId })],
    ['change', (form) => store.update(refOf(form), (current) => edited(current, { name: 'Other' }))],
    ['publish', (form) => publish(store, form)],
    ['count replies of', (form) => store.recordReplies({ ...form, replyIds: [randomUUID()] })],
    ['delete', (form) => store.delete(refOf(form), () => {})],
  ])('%s different forms without a conflict', async (_, change) => {
    const { organizationId } = newForm()
    const forms = await atOnce(16, () => givenForm(store, { organizationId }))
    recorder.take()

    await Promise.all(forms.map(change))

    // A conflict would abort a transaction, and begin another one.
    expect(countsOf(['bulkWrite', 'commitTransaction', 'abortTransaction'])).toEqual({
      bulkWrite: 16,
      commitTransaction: 16,
      abortTransaction: 0,
    })
  })
})

describe('50 writers of one form', () => {
  it('all succeed, in two processes', async () => {
    await using other = new MongoFormsStore(mongo.url, options)
    const form = await givenForm(store)

    await atOnce(50, (index) =>
      [store, other][index % 2]!.update(refOf(form), (current) =>
        edited(current, { description: `${current.version}` }),
      ),
    )

    expect(await store.get(refOf(form))).toMatchObject({ version: 51 })
  })
})
