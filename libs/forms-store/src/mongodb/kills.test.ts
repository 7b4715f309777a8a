import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { startMongo } from '@fms/testkit/mongodb'
import { type ConnectionBreak, recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { logOf, sequencesOf } from '../contract/events/log-of.ts'
import {
  edited,
  exported,
  givenForm,
  newForm,
  newRevision,
  publish,
  refOf,
  snapshot,
} from '../contract/given.ts'
import type { FormRef, FormsStore, StoredForm } from '../forms-store.ts'
import { type ChangeContext, type ChangeMethod, RequestReplay } from '../identified-request.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { parseDraft } from '../stored-draft.ts'
import { toFormRecord } from '../stored-form-record.ts'

const mongo = await startMongo()
await migrateFormsStore(mongo.url)
const admin = new MongoClient(mongo.url)
const open = (url: string, deletedFormsDays = 30) => openFormsStore(url, { deletedFormsDays, clears: false })
const store = await open(mongo.url)
const forGood = 0
const storeForGood = await open(mongo.url, forGood)
/** Clients that were killed: their requests end when the driver gives up. */
const killed: Promise<unknown>[] = []
afterAll(async () => {
  await Promise.all(killed)
  await Promise.all([store.close(), storeForGood.close(), admin.close()])
  await mongo[Symbol.asyncDispose]()
})

const allow = () => {}

/** A change of an organization, which may be repeated. */
interface Change {
  organizationId: string
  run: (store: FormsStore) => Promise<unknown>
}

const givenPublished = async () => {
  const form = await givenForm(store)
  await publish(store, form)
  return (await store.get(refOf(form)))!
}

const givenDeleted = async () => {
  const form = await givenPublished()
  await store.delete(refOf(form), allow)
  return form
}

const newContext = (method: ChangeMethod): ChangeContext => ({
  actor: { operator: true },
  httpRequestId: '',
  request: { requestId: randomUUID(), method, digest: '0'.repeat(64) },
})

const onForm = (
  { organizationId, formId }: StoredForm,
  method: ChangeMethod,
  run: (store: FormsStore, ref: FormRef, context: ChangeContext) => Promise<unknown>,
): Change => {
  const context = newContext(method)
  return { organizationId, run: (store) => run(store, { organizationId, formRef: formId }, context) }
}

/** A published form with revisions of these sizes, which is not stored. */
const importOf = (sizes: number[]): Change => {
  const form = newForm({ live: true })
  const revisions = sizes.map((size, index) => {
    const formJson = JSON.stringify({ ...parseDraft(form), name: 'x'.repeat(size) })
    return newRevision(form, { number: index + 1, formJson })
  })
  const { revisionId, number } = revisions.at(-1)!
  const live = { revisionNumber: number, liveNumber: number, liveRevisionId: revisionId }
  const record = toFormRecord(form, { ...live, revisions, replyIds: [randomUUID()] })
  return { organizationId: form.organizationId, run: (store) => store.importForm(record) }
}

/** Each change, on new forms; with how many events it records, and for how many days a deleted form can be restored. */
const changes: [name: string, given: () => Promise<Change>, events?: number, days?: number][] = [
  [
    'a create',
    async () => {
      const form = newForm()
      return onForm(form, 'create', (store, _, context) => store.create(form, context))
    },
  ],
  [
    'an update',
    async () =>
      onForm(await givenPublished(), 'update', (store, ref, context) =>
        store.update(ref, (current) => edited(current, { name: 'Edited' }), context),
      ),
  ],
  [
    'a publish',
    async () => {
      const commandId = randomUUID()
      return onForm(await givenPublished(), 'update', (store, ref) => store.publish(ref, commandId, snapshot))
    },
  ],
  [
    'an unpublish',
    async () =>
      onForm(await givenPublished(), 'unpublish', (store, ref, context) =>
        store.unpublish(ref, '', allow, context),
      ),
  ],
  [
    'a delete',
    async () =>
      onForm(await givenPublished(), 'delete', (store, ref, context) => store.delete(ref, allow, context)),
  ],
  [
    'a delete for good',
    async () =>
      onForm(await givenPublished(), 'delete', (store, ref, context) => store.delete(ref, allow, context)),
    1,
    forGood,
  ],
  [
    'an undelete',
    async () =>
      onForm(await givenDeleted(), 'undelete', (store, ref, context) => store.undelete(ref, allow, context)),
  ],
  [
    'a purge',
    async () =>
      onForm(await givenDeleted(), 'purge', (store, ref, context) => store.purge(ref, allow, context)),
  ],
  [
    'replies',
    async () => {
      const replyIds = [randomUUID(), randomUUID()]
      return onForm(await givenPublished(), 'update', (store, { organizationId, formRef }) =>
        store.recordReplies({ organizationId, formId: formRef, replyIds }),
      )
    },
    0,
  ],
  ['a small import', async () => importOf([100, 200])],
  ['a large import', async () => importOf([2_200_000, 2_200_000])],
]

const stateOf = async (organizationId: string) => ({
  records: await exported(store, organizationId),
  usage: await store.usage(organizationId),
  log: await logOf(store, organizationId),
})

type State = Awaited<ReturnType<typeof stateOf>>

const bytesOf = (values: unknown[]) =>
  values.reduce((sum: number, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0)

/** The usage is that of the records and the log, and of the revisions that a form has left since. */
const expectExact = ({ records, usage, log }: State, before: State): void => {
  const left = records.length === 0 ? before.records : []
  const revisions = [...records, ...left].flatMap((record) => record.revisions.map(({ form }) => form))
  expect(usage).toEqual({
    forms: records.filter(({ deletion }) => !deletion).length,
    bytes: bytesOf([...records.map(({ draft }) => draft), ...revisions, ...log]),
  })
}

const hasRequest = (name: string) => !/publish$|replies|import/.test(name) || name === 'an unpublish'

describe.each(changes)('%s whose connection breaks at a request', (name, given, events = 1, days = 30) => {
  /** The requests that the change sends if nothing breaks. */
  const requestsOf = async () => {
    await using recorder = await recordMongodb(mongo.url)
    await using client = await open(recorder.url, days)
    const { organizationId, run } = await given()
    await client.usage(organizationId)
    recorder.take()
    await run(client)
    return recorder.take()
  }

  /** Runs the change until it ends, or its client is killed. @returns whether it has succeeded. */
  const runBroken = async ({ organizationId, run }: Change, broken: ConnectionBreak): Promise<boolean> => {
    const recorder = await recordMongodb(mongo.url)
    const client = await open(recorder.url, days)
    await client.usage(organizationId)
    recorder.take()
    const breaks = recorder.breakAt(broken)
    const pending = run(client).then(() => true, unavailable)
    const end = async () => {
      const hasSucceeded = await pending
      await client.close()
      await recorder[Symbol.asyncDispose]()
      return hasSucceeded
    }
    await breaks
    if (!broken.isFinal) return end()
    killed.push(end())
    await endTransactions(recorder.take())
    return false
  }

  it.each([
    ['and whose client goes on', false],
    ['and whose client is killed', true],
  ])(
    'happens as a whole or not at all, and once with its repeat: %s',
    { timeout: 240_000 },
    async (_, isFinal) => {
      const requests = await requestsOf()
      const count = requests.length
      for (const command of brokenRequests(name, count)) {
        for (const isCarriedOut of outcomesOf(requests[command - 1]!, isFinal && command > 1)) {
          const change = await given()
          const before = await stateOf(change.organizationId)

          const hasSucceeded = await runBroken(change, { command, isCarriedOut, isFinal })

          const between = await stateOf(change.organizationId)
          const isDone = !isDeepStrictEqual(between.records, before.records)
          const told = `request ${command} of ${count}, ${isCarriedOut ? '' : 'not '}carried out`
          expect(between.log.length - before.log.length, told).toBe(isDone ? events : 0)
          expectExact(between, before)
          if (hasSucceeded) expect(isDone, told).toBe(true)
          if (isFinal && command < count) expect(isDone, told).toBe(false)
          const other = days === forGood ? storeForGood : store
          const repeat = await change.run(other).catch((error) => error)
          expect(repeat instanceof RequestReplay, told).toBe(isDone && hasRequest(name))
          const after = await stateOf(change.organizationId)
          expect(sequencesOf(after.log)).toEqual(after.log.map((_, index) => index + 1))
          expect(after.log.length - before.log.length, told).toBe(events)
          expectExact(after, before)
          if (isDone) expect(after, told).toEqual(between)
          else expect(after.records, told).not.toEqual(before.records)
        }
      }
    },
  )
})

/**
 * Whether the server carries out the request. It makes no difference to a read, nor to a client that is killed: one whose
 * request is lost leaves what one leaves that was killed before the response to its last request.
 */
const outcomesOf = (request: Document, isKilledLater: boolean): boolean[] =>
  'find' in request || isKilledLater ? [true] : [false, true]

/** All requests; of an import, which sends many, the first and the last ones unless the suite runs in its long form. */
const brokenRequests = (name: string, count: number): number[] => {
  const all = Array.from({ length: count }, (_, index) => index + 1)
  return name.endsWith('import') && !process.env.FC_RUNS
    ? all.filter((command) => command <= 2 || command >= count - 1)
    : all
}

const unavailable = (error: { reason?: string }): false => {
  if (error.reason !== 'STORE_UNAVAILABLE') throw error
  return false
}

/** Ends the transactions that a killed client has left open, before their lifetime has passed. */
const endTransactions = async (commands: Document[]): Promise<void> => {
  const open = commands.filter(({ autocommit }) => autocommit === false).map(({ lsid }) => ({ id: lsid.id }))
  if (open.length > 0) await admin.db('admin').command({ killSessions: open })
}

describe('a process that is killed between its writes and its commit', () => {
  it('changes nothing, and locks its form only for the lifetime of a transaction', async () => {
    const form = await givenForm(store)
    const { organizationId, formId } = form
    const before = await stateOf(organizationId)
    const commandId = randomUUID()
    const program = join(import.meta.dirname, 'testing/killed-publish.ts')
    const child = spawn(process.execPath, [program, mongo.url, organizationId, formId, commandId], {
      stdio: 'inherit',
    })
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
    expect(await stateOf(organizationId)).toEqual(before)

    // Each attempt repeats itself for 5 s. mongod ends a transaction up to 2.5 s after its lifetime.
    const update = () => store.update(refOf(form), (current) => edited(current, { name: 'Edited' }))
    const updated = await update().catch((error) => {
      expect(error).toMatchObject({ reason: 'UPDATE_ABORTED' })
      return update()
    })

    expect(updated).toMatchObject({ version: 2 })
    expect(await publish(store, form, commandId)).toMatchObject({ number: 1 })
    expect(await logOf(store, organizationId)).toHaveLength(3)
  })
})
