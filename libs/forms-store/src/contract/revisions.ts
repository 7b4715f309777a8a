import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredForm, StoredRevision } from '../forms-store.ts'
import { formToJson } from '../resource/form-to-json.ts'
import { parseSnapshot } from '../stored-draft.ts'
import {
  atOnce,
  edited,
  givenForm,
  givenRevisions,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  revisionOf,
  snapshot,
} from './given.ts'

/** Tests of publishes and revisions. */
export const revisionsContract = (open: OpenStore): void => {
  const store = openStore(open)

  const numbersOf = async (form: StoredForm) => {
    const page = await store().listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
    const revisions = page!.revisions.toReversed()
    return {
      numbers: revisions.map(({ revision }) => revision.number),
      live: revisions.filter(({ live }) => live).map(({ revision }) => revision.number),
    }
  }

  const signed = { publisher: `users/${randomUUID()}`, note: 'Why? 😀\0"' }

  describe('publish', () => {
    it('freezes the form as a live revision without a change of the draft', async () => {
      const form = await givenForm(store(), { replyCount: 3 })
      const taken = vi.fn((current: StoredForm) => ({ ...snapshot(current), ...signed }))
      const commandId = randomUUID()
      const published = { ...form, live: true }

      const result = (await store().publish(refOf(form), commandId, taken)) as StoredForm

      expect(result).toEqual(published)
      expect(taken.mock.calls).toEqual([[form, expect.any(Function)]])
      expect(await store().get(refOf(form))).toEqual(published)
      const { revisionId, createTime, publisher, note, formJson } = taken.mock.results[0]!.value
      const revision = {
        organizationId: form.organizationId,
        formId: form.formId,
        revisionId,
        number: 1,
        commandId,
        createTime,
        publisher,
        note,
        formJson,
      }
      for (const ref of [revisionId, 'live', 'latest']) {
        expect(await store().getRevision(refOf(form), ref)).toEqual({
          revision,
          revisionId,
          live: true,
          aiHandoff: false,
        })
      }
      expect(await revisionOf(store(), form.organizationId, commandId)).toMatchObject({
        revisionId,
      })
    })

    it('returns the form of the revision, also when a reply was counted meanwhile', async () => {
      const form = await givenForm(store())
      // The other reference of the form: the mutex does not serialize the two changes.
      const ref = { ...form, formRef: form.publicId }
      const result = (await store().publish(ref, randomUUID(), async (current) => {
        await store().recordReplies({ ...form, replyIds: [randomUUID()] })
        return snapshot(current)
      })) as StoredForm

      expect(result).toMatchObject({ replyCount: 0, live: true })
      expect(await store().getMetadata(refOf(form))).toMatchObject({ replyCount: 1, live: true })
    })

    it('returns the name and the version of its revision while patches change the draft', async () => {
      const form = await givenForm(store())
      const rename = (name: string) =>
        // The other reference of the form: the mutex does not serialize the two changes.
        store().update({ ...form, formRef: form.publicId }, (draft) => edited(draft, { name }))
      const commandIds = Array.from({ length: 20 }, () => randomUUID())

      const [published] = await Promise.all([
        atOnce(20, (index) => store().publish(refOf(form), commandIds[index]!, snapshot)),
        atOnce(20, (index) => rename(`Name ${index}`)),
      ])

      for (const [index, text] of published.entries()) {
        const result = text as StoredForm
        const revision = await revisionOf(store(), form.organizationId, commandIds[index]!)
        expect(JSON.parse(formToJson(result, 'http://127.0.0.1:8080/f'))).toEqual(parseSnapshot(revision!))
        // Each change by `edited` adds one to the version and one millisecond to the time.
        expect(result.version - form.version).toBe(result.updateTime.getTime() - form.updateTime.getTime())
      }
    })

    it('publishes the draft of one moment when the draft changes during the snapshot', async () => {
      const form = await givenForm(store())
      const names: string[] = []
      const check = async (current: StoredForm) => {
        names.push(current.name)
        // The other reference of the form: the mutex does not serialize the two changes.
        if (names.length === 1) {
          await store().update({ ...form, formRef: form.publicId }, (draft) =>
            edited(draft, { name: 'Later' }),
          )
        }
        return snapshot(current)
      }

      const published = (await store().publish(refOf(form), randomUUID(), check)) as StoredForm

      expect(published.name).toBe(names.at(-1))
      expect(published.version).toBe(names.length)
      const live = await store().getRevision(refOf(form), 'live')
      expect(parseSnapshot(live!.revision).name).toBe(published.name)
      expect(await numbersOf(form)).toEqual({ numbers: [1], live: [1] })
    })

    it('finds the form by its public id, and numbers revisions consecutively', async () => {
      const form = await givenForm(store())

      await store().publish({ ...form, formRef: form.publicId }, randomUUID(), snapshot)
      await store().publish(refOf(form), randomUUID(), snapshot)

      expect(await numbersOf(form)).toEqual({ numbers: [1, 2], live: [2] })
    })

    it('reads the live revision for the snapshot, again after each conflict with a publish', async () => {
      const form = await givenForm(store())
      const seen: (StoredRevision | undefined)[] = []
      const others: StoredRevision[] = []
      await store().publish(refOf(form), randomUUID(), async (current, readLive) => {
        // The other reference of the form: the mutex does not serialize the two publishes.
        const ref = { ...form, formRef: form.publicId }
        if (others.length < 2) {
          const commandId = randomUUID()
          await store().publish(ref, commandId, snapshot)
          others.push((await store().getRevision(ref, 'live'))!.revision)
        }
        seen.push(await readLive())
        return snapshot(current)
      })

      expect(seen).toEqual([undefined, ...others])
      expect(await numbersOf(form)).toEqual({ numbers: [1, 2, 3], live: [3] })
    })

    it('reads no live revision where an import made none live', async () => {
      const { form } = await givenRevisions(store(), [1, 2])
      const seen: (StoredRevision | undefined)[] = []
      await store().publish(refOf(form), randomUUID(), async (current, readLive) => {
        seen.push(await readLive())
        return snapshot(current)
      })

      expect(seen).toEqual([undefined])
    })

    it('rethrows the error of the snapshot, and leaves nothing behind', async () => {
      const form = await givenForm(store())
      const refusal = new Error('refused')
      const commandId = randomUUID()
      const refuse = () => {
        throw refusal
      }

      await expect(store().publish(refOf(form), commandId, refuse)).rejects.toBe(refusal)

      expect(await store().get(refOf(form))).toEqual(form)
      expect(await revisionOf(store(), form.organizationId, commandId)).toBeUndefined()
      await publish(store(), form)
      expect(await numbersOf(form)).toEqual({ numbers: [1], live: [1] })
    })

    it('leaves nothing behind when beforeStoring throws', async () => {
      const form = await givenForm(store())
      const refuse = () => {
        throw new Error('too late')
      }

      const result = store().publish(refOf(form), randomUUID(), snapshot, refuse)

      await expect(result).rejects.toThrow('too late')
      expect(await store().get(refOf(form))).toEqual(form)
      expect(await numbersOf(form)).toEqual({ numbers: [], live: [] })
    })

    it('creates one revision per command, without a second snapshot on a repeat', async () => {
      const form = await givenForm(store())
      const first = await publish(store(), form)
      await store().update(refOf(form), (current) => edited(current, { name: 'Later' }))
      const again = vi.fn(snapshot)

      const result = (await store().publish(refOf(form), first.commandId, again)) as StoredForm

      expect(again).not.toHaveBeenCalled()
      expect(result).toMatchObject({ version: 2, live: true })
      expect(await revisionOf(store(), form.organizationId, first.commandId)).toEqual(first)
      expect(await numbersOf(form)).toEqual({ numbers: [1], live: [1] })
    })

    it('creates one revision for ten concurrent calls with one command', async () => {
      const form = await givenForm(store())
      const commandId = randomUUID()

      const results = await atOnce(10, () => store().publish(refOf(form), commandId, snapshot))

      for (const result of results) expect(result).toEqual(results[0])
      expect((await numbersOf(form)).numbers).toHaveLength(1)
    })

    it('returns elsewhere for the command of another form of the organization, and does nothing', async () => {
      const form = await givenForm(store())
      const other = await givenForm(store(), { organizationId: form.organizationId })
      const { commandId } = await publish(store(), form)

      expect(await store().publish(refOf(other), commandId, snapshot)).toBe('elsewhere')

      expect(await store().get(refOf(other))).toEqual(other)
      expect(await numbersOf(other)).toEqual({ numbers: [], live: [] })
    })

    it('publishes one of two forms in concurrent calls with one command', async () => {
      const form = await givenForm(store())
      const other = await givenForm(store(), { organizationId: form.organizationId })
      const commandId = randomUUID()

      const results = await Promise.all(
        [form, other].map((one) => store().publish(refOf(one), commandId, snapshot)),
      )

      expect(results.filter((result) => result === 'elsewhere')).toHaveLength(1)
      const made = await Promise.all([form, other].map(numbersOf))
      expect(made.flatMap(({ live }) => live)).toEqual([1])
    })

    it('accepts the same command id in another organization', async () => {
      const commandId = randomUUID()
      const [form, other] = [await givenForm(store()), await givenForm(store())]

      const [one, two] = [await publish(store(), form, commandId), await publish(store(), other, commandId)]

      expect([one.formId, two.formId]).toEqual([form.formId, other.formId])
      expect(await revisionOf(store(), form.organizationId, commandId)).toEqual(one)
    })

    it('never moves live back for an earlier command', async () => {
      const form = await givenForm(store())
      const first = await publish(store(), form)
      await publish(store(), form)

      await store().publish(refOf(form), first.commandId, snapshot)

      expect(await numbersOf(form)).toEqual({ numbers: [1, 2], live: [2] })
    })

    it('makes the existing revision of a command live, unless a later one is', async () => {
      for (const [liveBefore, liveAfter] of [
        [0, 2],
        [1, 2],
        [3, 3],
      ] as const) {
        const { form, revisions } = await givenRevisions(store(), [1, 2, 3], liveBefore)

        const result = await store().publish(refOf(form), revisions[1]!.commandId, snapshot)

        expect(result).toMatchObject({ live: true })
        expect(await numbersOf(form)).toEqual({ numbers: [1, 2, 3], live: [liveAfter] })
      }
    })

    it('creates 50 revisions for 50 concurrent calls, the highest of which is live', async () => {
      const form = await givenForm(store())

      await atOnce(50, () => publish(store(), form))

      const { numbers, live } = await numbersOf(form)
      expect(new Set(numbers).size).toBe(50)
      expect(live).toEqual([numbers.at(-1)])
      expect(await store().get(refOf(form))).toEqual({ ...form, live: true })
    })

    it('numbers revisions in the order of their snapshots, also during updates', async () => {
      const form = await givenForm(store())
      const withTag = (current: StoredForm) => ({
        ...snapshot(current),
        formJson: JSON.stringify({ version: current.version }),
      })

      await Promise.all([
        atOnce(30, () => store().publish(refOf(form), randomUUID(), withTag)),
        atOnce(30, () => store().update(refOf(form), (current) => edited(current, {}))),
      ])

      const page = await store().listRevisions({ ...refOf(form), limit: 1000, skip: 0 })
      const versions = page!.revisions.map(({ revision }) => JSON.parse(revision.formJson).version)
      expect(versions).toHaveLength(30)
      expect(versions).toEqual(versions.toSorted((a, b) => b - a))
    })

    it('returns undefined for a form that does not exist or was deleted', async () => {
      const form = await givenForm(store())
      const { commandId } = await publish(store(), form)
      await store().delete(refOf(form), () => {})
      const taken = vi.fn(snapshot)

      expect(await store().publish(refOf(newForm()), randomUUID(), taken)).toBeUndefined()
      expect(await store().publish(refOf(form), randomUUID(), taken)).toBeUndefined()
      expect(await store().publish(refOf(form), commandId, taken)).toBeUndefined()
      expect(taken).not.toHaveBeenCalled()
    })
  })

  describe('listRevisions', () => {
    it('is newest first, and marks the live revision', async () => {
      const { form, revisions } = await givenRevisions(store(), [1, 2, 9, 10], 9)

      expect(await store().listRevisions({ ...form, formRef: form.publicId, limit: 10, skip: 0 })).toEqual({
        revisions: [
          { revision: revisions[3], live: false },
          { revision: revisions[2], live: true },
          { revision: revisions[1], live: false },
          { revision: revisions[0], live: false },
        ],
        totalSize: 4,
      })
    })

    const numbersOn = async (query: Parameters<FormsStore['listRevisions']>[0]) => {
      const page = await store().listRevisions(query)
      return { ...page, revisions: page!.revisions.map(({ revision }) => revision.number) }
    }

    it('continues from page to page, with skips, while revisions are added', async () => {
      const { form } = await givenRevisions(store(), [1, 2, 3, 4, 5, 6, 7])
      const query = { ...refOf(form), limit: 2 }

      expect(await numbersOn({ ...query, skip: 0 })).toEqual({ revisions: [7, 6], next: 6, totalSize: 7 })
      await publish(store(), form)
      expect(await numbersOn({ ...query, skip: 1, after: 6 })).toEqual({
        revisions: [4, 3],
        next: 3,
        totalSize: 8,
      })
      expect(await numbersOn({ ...query, skip: 0, after: 3 })).toEqual({ revisions: [2, 1], totalSize: 8 })
      expect(await numbersOn({ ...query, skip: 8 })).toEqual({ revisions: [], totalSize: 8 })
      expect(await numbersOn({ ...query, skip: 2 ** 31 - 1 })).toEqual({ revisions: [], totalSize: 8 })
    })

    it('ends a page early once it has 4 MiB', async () => {
      const form = await givenForm(store(), { draft: { context: ['漢'.repeat((700 * 1024) / 3)] } })
      for (let count = 0; count < 8; count++) await publish(store(), form)
      const query = { ...refOf(form), limit: 1000, skip: 0 }

      const { revisions, next } = await numbersOn(query)
      expect(revisions.length).toBeLessThan(8)
      const rest = await numbersOn({ ...query, after: next! })

      expect([...revisions, ...rest.revisions]).toEqual(Array.from({ length: 8 }, (_, index) => 8 - index))
      expect(rest.next).toBeUndefined()
    })

    it('is empty for an unpublished form, and undefined for one that does not exist', async () => {
      const form = await givenForm(store())

      expect(await store().listRevisions({ ...refOf(form), limit: 10, skip: 0 })).toEqual({
        revisions: [],
        totalSize: 0,
      })
      expect(await store().listRevisions({ ...refOf(newForm()), limit: 10, skip: 0 })).toBeUndefined()
    })
  })

  describe('getRevision', () => {
    const givenPublished = async (): Promise<{ form: StoredForm; revision: StoredRevision }> => {
      const form = await givenForm(store())
      return { form, revision: await publish(store(), form) }
    }

    it('finds a revision by UUID in any letter case, and as live, with the AI Handoff of the draft', async () => {
      const { form, revision } = await givenPublished()
      const { revisionId } = revision
      await store().update(refOf(form), (draft) => edited(draft, { aiHandoff: { enabled: true } }))

      for (const revisionRef of [revision.revisionId, revision.revisionId.toUpperCase(), 'live']) {
        expect(await store().getRevision({ ...form, formRef: form.publicId }, revisionRef)).toEqual({
          revision,
          revisionId,
          live: true,
          aiHandoff: true,
        })
        expect(await store().getRevisionState(refOf(form), revisionRef)).toEqual({
          revisionId,
          live: true,
          aiHandoff: true,
        })
      }
    })

    it('keeps a revision unchanged when another one becomes live', async () => {
      const { form, revision } = await givenPublished()
      await store().update(refOf(form), (current) => edited(current, { name: 'Later' }))
      await publish(store(), form)

      expect(await store().getRevision(refOf(form), revision.revisionId)).toMatchObject({
        revision,
        live: false,
      })
      const live = await store().getRevision(refOf(form), 'live')
      expect(parseSnapshot(live!.revision).name).toBe('Later')
    })

    it.each(['', 'Live', 'LIVE', 'Latest', '1', '__proto__', '%', '\0', '\ud800', randomUUID()])(
      'finds nothing by %j',
      async (revisionRef) => {
        const { form } = await givenPublished()

        expect(await store().getRevision(refOf(form), revisionRef)).toBeUndefined()
        expect(await store().getRevisionState(refOf(form), revisionRef)).toBeUndefined()
      },
    )

    it('finds the one with the highest number as latest, whichever is live', async () => {
      const { form, revisions } = await givenRevisions(store(), [1, 2, 9, 10], 9)
      const { revisionId } = revisions[3]!
      const state = { revisionId, live: false, aiHandoff: false }

      expect(await store().getRevision(refOf(form), 'latest')).toEqual({ ...state, revision: revisions[3] })
      expect(await store().getRevisionState(refOf(form), 'latest')).toEqual(state)

      const later = await publish(store(), form)
      expect(await store().getRevision(refOf(form), 'latest')).toMatchObject({ revision: later, live: true })
    })

    it('finds no latest revision before the first, or after a delete', async () => {
      const form = await givenForm(store())
      expect(await store().getRevision(refOf(form), 'latest')).toBeUndefined()
      expect(await store().getRevisionState(refOf(form), 'latest')).toBeUndefined()

      await publish(store(), form)
      await store().delete(refOf(form), () => {})
      expect(await store().getRevision(refOf(form), 'latest')).toBeUndefined()
    })

    it('finds no revision of another form, or of a form that does not exist', async () => {
      const { form, revision } = await givenPublished()
      const sibling = await givenForm(store(), { organizationId: form.organizationId })

      expect(await store().getRevision(refOf(sibling), revision.revisionId)).toBeUndefined()
      expect(await store().getRevision(refOf(sibling), 'live')).toBeUndefined()
      expect(await store().getRevision(refOf(newForm()), revision.revisionId)).toBeUndefined()
    })
  })
}
