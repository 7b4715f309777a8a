import { randomUUID } from 'node:crypto'
import { type FormEvent, formatSequence, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { expect, it, vi } from 'vitest'
import type { EventPublisher } from './publish-events.ts'
import { createStreaming } from './stream-events.ts'
import { patience } from './testing/start-relaying.ts'

/** Logs of some length in memory, found in the order of their ids. */
const givenLogs = (lengths: Record<string, number>) => {
  const streamed = new Map<string, number>()
  const of = (organizationId: string) => streamed.get(organizationId) ?? 0
  const events = {
    findUnstreamed: async (limit: number) =>
      Object.entries(lengths)
        .map(([organizationId, lastSequence]) => ({
          organizationId,
          streamedSequence: of(organizationId),
          lastSequence,
        }))
        .filter(({ streamedSequence, lastSequence }) => streamedSequence < lastSequence)
        .slice(0, limit),
    streamedSequence: async (organizationId: string) => of(organizationId),
    markStreamed: async (organizationId: string, sequence: number) => {
      streamed.set(organizationId, Math.max(of(organizationId), sequence))
    },
    read: async ({ organizationId, from = 1, limit }: Parameters<EventLog['read']>[0]) =>
      Array.from({ length: Math.min(limit, lengths[organizationId]! - from + 1) }, (_, index) => ({
        sequence: formatSequence(from + index),
      })),
  }
  return events as typeof events & EventLog
}

/** Streams with a publisher that notes what it publishes. */
const startStreaming = (events: EventLog, publisher: Partial<EventPublisher> = {}) => {
  const published: [organizationId: string, sequence: number][] = []
  const note = async (organizationId: string, { sequence }: FormEvent) => {
    published.push([organizationId, parseSequence(sequence)])
  }
  const streaming = createStreaming({
    events,
    publisher: {
      one: note,
      async batch(organizationId, batch) {
        for (const event of batch) await note(organizationId, event)
      },
      ...publisher,
    },
    allowsBatches: () => true,
    onFree: () => void streaming.startLogs(),
    onError: (error) => {
      throw error
    },
  })
  return { published, startLogs: streaming.startLogs, [Symbol.asyncDispose]: streaming.stop }
}

it('gives each log its turn while more logs than it streams at a time are behind all the time', async () => {
  const ids = Array.from({ length: 200 }, randomUUID).sort()
  const lengths = Object.fromEntries(ids.map((id) => [id, 1]))
  const events = givenLogs(lengths)
  await using streaming = startStreaming(events, {
    // Each log grows while it is streamed.
    async one(organizationId, { sequence }) {
      lengths[organizationId]!++
      streaming.published.push([organizationId, parseSequence(sequence)])
      await new Promise(setImmediate)
    },
  })

  await streaming.startLogs()

  await vi.waitUntil(() => streaming.published.length > 2_000, patience)
  expect(new Set(streaming.published.map(([organizationId]) => organizationId)).size).toBe(200)
})

it('gives a log its turn while as many as it streams at a time have no end', async () => {
  const long = Array.from({ length: 32 }, (_, index) => [`long ${index}`, 1_000_000_000])
  const events = givenLogs({ ...Object.fromEntries(long), short: 1 })
  await using streaming = startStreaming(events, {
    batch: () => new Promise((resolve) => setImmediate(resolve)),
  })

  await streaming.startLogs()

  await vi.waitUntil(() => streaming.published.length > 0, patience)
  expect(streaming.published).toEqual([['short', 1]])
})

it('gives a log its turn that gets behind while more than it streams at a time have no end', async () => {
  const long = Array.from({ length: 40 }, (_, index) => [`long ${index}`, 1_000_000_000])
  const lengths = { ...Object.fromEntries(long), short: 0 }
  let batches = 0
  await using streaming = startStreaming(givenLogs(lengths), {
    async batch() {
      if (++batches === 100) lengths.short = 1
      await new Promise((resolve) => setImmediate(resolve))
    },
  })

  await streaming.startLogs()

  await vi.waitUntil(() => streaming.published.length > 0, patience)
  expect(streaming.published).toEqual([['short', 1]])
})

it('publishes nothing that another publisher has streamed since it has begun', async () => {
  const organizationId = randomUUID()
  const events = givenLogs({ [organizationId]: 450 })
  let isFirst = true
  await using streaming = startStreaming(events, {
    async batch(_, batch) {
      if (isFirst) await events.markStreamed(organizationId, 250)
      isFirst = false
      if (batch[0]!.sequence === formatSequence(1)) throw new Error('duplicate')
      for (const { sequence } of batch) streaming.published.push([organizationId, parseSequence(sequence)])
    },
  })

  await streaming.startLogs()

  await vi.waitUntil(async () => (await events.streamedSequence(organizationId)) === 450, patience)
  const sequences = streaming.published.map(([, sequence]) => sequence)
  expect(sequences).toEqual(Array.from({ length: 200 }, (_, index) => 251 + index))
})
