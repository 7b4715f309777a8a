import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { ApiError, type JsonObject } from '@fms/aip'
import { createFormArbitrary } from '@fms/contracts/arbitrary'
import { longestTaskMs } from '@fms/testkit/machine/cpu-time'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { wrongMemberArbitrary } from '../testing/malformed-request.arbitrary.ts'
import { DraftWriter, type Patch } from './draft-writer.ts'

const inline = new DraftWriter(Number.POSITIVE_INFINITY)
const threaded = new DraftWriter(0, 1)
afterAll(() => threaded.close())

const alice = { organization: 'acme', user: 'alice' }

const outcomeOf = async (write: Promise<unknown>): Promise<unknown> => {
  try {
    return await write
  } catch (error) {
    if (error instanceof ApiError) return error.toBody('r')
    throw error
  }
}

const branch = { targetStepKey: 'q', groups: [[{ operator: 'is', stepKey: 'q' }]] }

const overTheWire = (fields: unknown): JsonObject => JSON.parse(JSON.stringify(fields))

describe('DraftWriter', () => {
  it('returns the same draft from a thread as from the calling thread', async () => {
    const anyForm = fc.oneof(createFormArbitrary, wrongMemberArbitrary).map(overTheWire)
    const codes = { drafts: 0, refusals: 0, unchanged: 0 }

    await fc.assert(
      fc.asyncProperty(anyForm, anyForm, async (form, patch) => {
        const created = await outcomeOf(inline.create(form, alice))
        expect(await outcomeOf(threaded.create(JSON.stringify(form), alice))).toEqual(created)
        if (created && typeof created === 'object' && 'error' in created) {
          codes.refusals++
          return
        }
        codes.drafts++
        const { draftJson } = created as { draftJson: string }
        for (const change of [patch, form]) {
          const patched = await outcomeOf(inline.patch(draftJson, change, alice))
          expect(await outcomeOf(threaded.patch(draftJson, change, alice))).toEqual(patched)
          if (patched === undefined) codes.unchanged++
        }
      }),
      { numRuns: 300 },
    )
    for (const count of Object.values(codes)) expect(count).toBeGreaterThan(0)
  })

  it('restores the same draft in a thread as on the calling thread', async () => {
    const codes = { drafts: 0, refusals: 0, unchanged: 0 }
    const anyForm = createFormArbitrary.map(overTheWire)
    const refused = wrongMemberArbitrary.map(overTheWire)

    await fc.assert(
      fc.asyncProperty(anyForm, anyForm, refused, async (form, earlier, wrong) => {
        const { draftJson } = await inline.create(form, alice)
        const { draftJson: snapshot } = await inline.create(earlier, alice)
        for (const snapshotJson of [snapshot, JSON.stringify(wrong), draftJson]) {
          const restored = await outcomeOf(inline.restore(draftJson, snapshotJson, alice))
          expect(await outcomeOf(threaded.restore(draftJson, snapshotJson, alice))).toEqual(restored)
          if (restored === undefined) codes.unchanged++
          else codes['error' in (restored as object) ? 'refusals' : 'drafts']++
        }
      }),
      { numRuns: 100 },
    )
    for (const count of Object.values(codes)) expect(count).toBeGreaterThan(50)
  })

  it('leaves the event loop free while a thread checks a large draft', async () => {
    const steps = Array.from({ length: 1000 }, (_, index) => ({
      type: 'text',
      key: `q${index}`,
      branches: Array(4).fill({ targetStepKey: 'q1', groups: [[{ operator: 'is', stepKey: 'q0' }]] }),
    }))
    const { draftJson } = await threaded.create(JSON.stringify({ steps }), alice)
    expect(draftJson.length).toBeGreaterThan(400_000)

    const snapshotJson = JSON.stringify({ ...JSON.parse(draftJson), name: 'another' })
    const patch = async (writer: DraftWriter) =>
      expect(await writer.patch(draftJson, { name: 'one word' }, alice)).toMatchObject({ name: 'one word' })
    const restore = async (writer: DraftWriter) =>
      expect(await writer.restore(draftJson, snapshotJson, alice)).toMatchObject({ name: 'another' })
    for (const write of [patch, restore]) {
      const inlineMs = await longestTaskMs(() => write(inline))
      expect(await longestTaskMs(() => write(threaded))).toBeLessThan(inlineMs / 2)
    }
  })

  it.each([
    ['unknown members', () => Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`u${n}`, 0]))],
    ['empty objects', () => ({ steps: [{ type: 'text', key: 'q', more: Array(340_000).fill({}) }] })],
    ['empty steps', () => ({ steps: Array(340_000).fill({}) })],
    ['branches', () => ({ steps: [{ type: 'text', key: 'q', branches: Array(16_000).fill(branch) }] })],
  ])('has enough memory for the largest body on the largest draft: %s', async (_, form) => {
    const steps = [{ type: 'text', key: 'q', more: Array(260_000).fill({}) }]
    const { draftJson } = await threaded.create(JSON.stringify({ steps }), alice)
    expect(draftJson.length).toBeGreaterThan(0.98 * 768 * 1024)
    const patchJson = JSON.stringify(form())
    expect(patchJson.length).toBeGreaterThan(0.95 * 1024 * 1024)

    await expect(threaded.patch(draftJson, patchJson, alice)).rejects.toMatchObject({
      reason: 'INVALID_REQUEST',
    })
  })

  it('serves users in turn', async () => {
    const form: Patch = '{"name": "a"}'
    const order: string[] = []
    const create = (user: string) =>
      threaded.create(form, { organization: user, user }).then(() => order.push(user))

    await Promise.all([...Array.from({ length: 10 }, () => create('alice')), create('bob')])

    expect(order.indexOf('bob')).toBeLessThan(3)
  })

  it.runIf(process.platform === 'linux')('has threads of a lower priority than the event loop', async () => {
    await threaded.create(JSON.stringify({ name: 'large' }), alice)

    const threads = readdirSync('/proc/self/task').map(Number)
    expect(threads.map(getPriority)).toContain(getPriority(process.pid) + 5)
  })

  it('starts the first thread with the first large draft, and ends threads when it is closed', async () => {
    const writer = new DraftWriter(1000, 1)
    await writer.create({ name: 'small' }, alice)
    expect(writer.running).toBe(0)

    await writer.create(JSON.stringify({ name: 'large' }), alice)
    expect(writer.running).toBe(1)
    await writer.close()
    expect(writer.running).toBe(0)
  })
})
