import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  create,
  edited,
  findRevision,
  givenForm,
  newForm,
  publish,
  refOf,
  snapshot,
  update,
} from '../contract/given.ts'
import type { FormsStore, StoredForm } from '../forms-store.ts'
import { MongoFormsStore } from './forms-store.ts'
import { allow, startFormsStore } from './testing.ts'

const { url, store, collections, killedAfter } = await startFormsStore()

/**
 * Kills `work` after each number of writes that it can be killed after, each time on what `given` makes.
 *
 * @returns how many writes that were.
 */
const killEverywhere = async <T>(
  given: () => Promise<T>,
  work: (store: FormsStore, given: T) => Promise<unknown>,
  afterwards: (given: T) => Promise<void>,
): Promise<number> => {
  for (let writes = 0; ; writes++) {
    const thing = await given()
    if (!(await killedAfter(writes, (mortal) => work(mortal, thing)))) return writes
    await afterwards(thing)
  }
}

/** Resolves once nothing is left of the forms of an organization, what is counted of them set aside. */
const emptied = (organizationId: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { usage: _, ...others } = collections
      for (const collection of Object.values(others)) {
        expect(await collection.count({ organizationId })).toBe(0)
      }
    },
    { timeout: 60_000 },
  )

const listed = async ({ organizationId }: StoredForm) =>
  (await store.list({ organizationId, orderBy: [], limit: 10, skip: 0 })).totalSize

describe('a process that is killed between two writes', () => {
  it('of a create leaves the whole form or nothing, and the form can still be created', async () => {
    const writes = await killEverywhere(
      async () => newForm(),
      (mortal, form) => create(mortal, form),
      async (form) => {
        expect(await store.get(refOf(form))).toBeUndefined()
        expect(await listed(form)).toBe(0)

        expect(await create(store, form)).toBe(true)
        expect(await store.get(refOf(form))).toEqual(form)
        expect(await create(store, newForm({ publicId: form.publicId }))).toBe(false)
      },
    )

    // Usage: nobody has counted the organization's forms yet.
    expect(writes).toBe(5)
  })

  it('of a delete leaves the whole form or nothing to be seen, and whoever opens the store clears the rest', async () => {
    const given = async () => {
      const form = await givenForm(store)
      const [first, revision] = [await publish(store, form), await publish(store, form)]
      const replies = Array.from({ length: 40 }, () => randomUUID())
      for (const replyId of replies) await store.recordReplies({ ...form, replyIds: [replyId] })
      return { form: { ...form, live: true, replyCount: 40 }, first, revision }
    }

    const writes = await killEverywhere(
      given,
      (mortal, { form }) => mortal.delete(refOf(form), allow),
      async ({ form, first, revision }) => {
        const { organizationId, publicId } = form
        const seen = [
          await store.get(refOf(form)),
          await store.get({ organizationId, formRef: publicId }),
          await store.getRevision(refOf(form), 'live'),
          await store.getRevision(refOf(form), first.revisionId),
          await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 }),
          await store.findRevisionOfCommand(organizationId, revision.commandId),
          await store.publish(refOf(form), revision.commandId, snapshot),
          (await listed(form)) || undefined,
        ]
        if (seen[0]) {
          expect(seen.includes(undefined)).toBe(false)
          expect(seen[0]).toEqual(form)
        } else expect(seen).toEqual(Array(8).fill(undefined))

        expect(await store.delete(refOf(form), allow)).toBe(seen[0] !== undefined)

        await using _opened = new MongoFormsStore(url)
        await emptied(organizationId)
        expect(await create(store, newForm({ publicId }))).toBe(true)
      },
    )

    // The note, the form, its public id and the count; the rest is cleared after the answer.
    expect(writes).toBe(4)
  })

  it('of a clearing leaves the rest to whoever opens the store, and none of it is in the way of another', async () => {
    {
      // What the tests before have left.
      await using _opened = new MongoFormsStore(url)
      await vi.waitFor(async () => expect(await collections.deletions.count({})).toBe(0))
    }
    const [form, stuck] = [await givenForm(store), await givenForm(store)]
    for (const each of [form, stuck]) {
      await publish(store, each)
      await killedAfter(2, (mortal) => mortal.delete(refOf(each), allow))
    }
    let attempts = 0
    const isStuck = ({ collection }: { collection: string }) => {
      if (collection === 'publicIds' && attempts++ === 0) throw new Error('cannot be cleared')
    }

    {
      await using _opened = new MongoFormsStore(url, {}, { beforeWrite: isStuck })
      await vi.waitFor(async () => {
        const left = [form, stuck].map(({ organizationId }) =>
          collections.revisions.count({ organizationId }),
        )
        expect((await Promise.all(left)).sort()).toEqual([0, 1])
      })
    }

    await using _again = new MongoFormsStore(url)
    await Promise.all([form, stuck].map(({ organizationId }) => emptied(organizationId)))
  })

  it('of a publish leaves the form as it was, and a repeat publishes once', async () => {
    const writes = await killEverywhere(
      async () => ({ form: await givenForm(store), commandId: randomUUID() }),
      (mortal, { form, commandId }) => mortal.publish(refOf(form), commandId, snapshot),
      async ({ form, commandId }) => {
        expect(await store.get(refOf(form))).toEqual(form)
        expect(await store.getRevision(refOf(form), 'live')).toBeUndefined()

        expect(await store.publish(refOf(form), commandId, snapshot)).toMatchObject({
          version: 1,
          live: true,
        })

        expect(await store.getRevision(refOf(form), 'live')).toMatchObject({ revision: { commandId } })
        expect(await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toMatchObject({
          totalSize: 1,
        })
      },
    )

    // One of them reserves room.
    expect(writes).toBe(4)
  })

  it('of a publish has it go on with the draft as it is, until a snapshot is stored', async () => {
    const rename = (name: string) => (current: StoredForm) => edited(current, { name })
    const published: string[] = []
    await killEverywhere(
      async () => ({ form: await givenForm(store, { draft: { name: 'Then' } }), commandId: randomUUID() }),
      (mortal, { form, commandId }) => mortal.publish(refOf(form), commandId, snapshot),
      async ({ form, commandId }) => {
        await update(store, refOf(form), rename('Now'))
        await store.publish(refOf(form), commandId, snapshot)
        published.push((await findRevision(store, refOf(form), 'live'))!.revision.form.name)
      },
    )

    expect(published).toEqual(['Now', 'Now', 'Now', 'Then'])
  })

  it('of a reply neither loses nor doubles it, also when the form hands its ids over', async () => {
    const given = async () => {
      const form = await givenForm(store)
      const replyIds = Array.from({ length: 33 }, () => randomUUID())
      // As if they had been recorded one by one.
      await collections.forms.set(
        { organizationId: form.organizationId, _id: form.formId },
        { replyCount: 32, recentReplies: replyIds.slice(1) },
      )
      return { form, replyIds }
    }

    const writes = await killEverywhere(
      given,
      (mortal, { form, replyIds }) => mortal.recordReplies({ ...form, replyIds: replyIds.slice(0, 2) }),
      async ({ form, replyIds }) => {
        expect(await store.get(refOf(form))).toEqual({ ...form, replyCount: 32 })

        const outcomes = []
        for (const replyId of replyIds) {
          outcomes.push(await store.recordReplies({ ...form, replyIds: [replyId] }))
        }

        expect(outcomes).toEqual([1, ...Array(32).fill(0)])
        expect(await store.get(refOf(form))).toEqual({ ...form, replyCount: 33 })
      },
    )

    expect(writes).toBe(2)
  })
})

describe('a publish that is held up before its last step', () => {
  it('does not move live back', async () => {
    const form = await givenForm(store)
    let writes = 0
    const others = async () => {
      if (++writes === 3) await publish(store, form)
    }
    await using slow = new MongoFormsStore(url, {}, { beforeWrite: others, clears: false })

    expect(await slow.publish(refOf(form), randomUUID(), snapshot)).toMatchObject({ live: true })

    const page = await store.listRevisions({ ...refOf(form), limit: 10, skip: 0 })
    expect(page!.revisions.map(({ revision, live }) => [revision.number, live])).toEqual([
      [2, true],
      [1, false],
    ])
  })
})

describe('a form that is patched during a publish', () => {
  it.each([
    ['the number is taken', 1, 'forms', 'Later'],
    ['the revision is stored', 1, 'revisions', 'Before'],
    ['live moves', 2, 'forms', 'Before'],
  ])('before %s: the publish returns what its revision holds', async (_, write, collection, name) => {
    const form = await givenForm(store, { draft: { name: 'Before' } })
    const commandId = randomUUID()
    let writes = 0
    const patch = async (about: { collection: string }) => {
      if (about.collection !== collection || ++writes !== write) return
      await update(store, refOf(form), (current) => edited(current, { name: 'Later' }))
    }
    await using publisher = new MongoFormsStore(url, {}, { beforeWrite: patch, clears: false })

    const published = await publisher.publish(refOf(form), commandId, snapshot)

    expect(published).toMatchObject({ name, version: name === 'Later' ? 2 : 1, live: true })
    const revision = await store.findRevisionOfCommand(form.organizationId, commandId)
    expect(revision!.form.name).toBe(name)
    expect(await store.get(refOf(form))).toMatchObject({ version: 2, live: true, draft: { name: 'Later' } })
  })
})

describe('a form that is deleted during a publish', () => {
  it.each([1, 2, 3])('before write %i is gone, with its revision', async (write) => {
    const form = await givenForm(store)
    const { organizationId } = form
    const commandId = randomUUID()
    let writes = 0
    await using publisher = new MongoFormsStore(
      url,
      {},
      {
        clears: false,
        beforeWrite: async () => {
          if (++writes === write) await store.delete(refOf(form), allow)
        },
      },
    )

    expect(await publisher.publish(refOf(form), commandId, snapshot)).toBeUndefined()

    expect(await store.findRevisionOfCommand(organizationId, commandId)).toBeUndefined()
    expect(await collections.revisions.count({ organizationId })).toBe(0)
  })

  it('leaves no revision in the way of its command when the publisher is killed', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    const other = await givenForm(store, { organizationId })
    const commandId = randomUUID()
    await using deleter = new MongoFormsStore(url, {}, { clears: false })
    await using publisher = new MongoFormsStore(
      url,
      {},
      {
        clears: false,
        beforeWrite: async ({ collection, operation }) => {
          if (collection !== 'revisions') return
          if (operation === 'insert') await deleter.delete(refOf(form), allow)
          else throw new Error('killed')
        },
      },
    )

    await expect(publisher.publish(refOf(form), commandId, snapshot)).rejects.toThrow('killed')

    expect(await collections.revisions.count({ organizationId })).toBe(1)
    expect(await store.findRevisionOfCommand(organizationId, commandId)).toBeUndefined()
    expect(await publish(store, other, commandId)).toMatchObject({ formId: other.formId, commandId })
  })
})

describe('several processes', () => {
  let other: FormsStore
  beforeAll(() => {
    other = new MongoFormsStore(url)
  })
  afterAll(() => other.close())

  it('lose none of their changes, publishes and replies of one form', async () => {
    const form = await givenForm(store)
    const times = (count: number, work: (store: FormsStore) => Promise<unknown>) =>
      [store, other].flatMap((process) => Array.from({ length: count }, () => work(process)))

    await Promise.all([
      ...times(10, (process) => update(process, refOf(form), (current) => edited(current, {}))),
      ...times(5, (process) => publish(process, form)),
      ...times(15, (process) => process.recordReplies({ ...form, replyIds: [randomUUID()] })),
    ])

    expect(await store.get(refOf(form))).toMatchObject({ version: 21, replyCount: 30, live: true })
    const page = await store.listRevisions({ ...refOf(form), limit: 100, skip: 0 })
    expect(page!.revisions.map(({ live }) => live)).toEqual([true, ...Array(9).fill(false)])
  })
})
