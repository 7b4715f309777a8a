import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@fms/aip'
import { EventsRecorded, eventContentType } from '@fms/contracts'
import type { EventLog, StoredForm } from '@fms/forms-store'
import { connectNats } from '@fms/service-kit'
import { describe, expect, it, vi } from 'vitest'
import { givenForm, testEventsConfig } from '../testing.ts'
import {
  givenEvents,
  givenLongLog,
  patience,
  sequencesOf,
  startRelaying,
  upTo,
} from './testing/start-relaying.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** A log with some methods replaced. */
const withMethods =
  (methods: (log: EventLog) => Partial<EventLog>) =>
  (log: EventLog): EventLog => {
    const replaced = methods(log)
    const bound = (name: keyof EventLog) => (log[name] as (...args: unknown[]) => unknown).bind(log)
    return new Proxy(log, { get: (_, name: keyof EventLog) => replaced[name] ?? bound(name) })
  }

describe.concurrent('the relay', () => {
  it('publishes each event once, in order and as it is in the log', async () => {
    await using relaying = await startRelaying()
    const form = await givenEvents(relaying, 4)
    await relaying.relay()
    await relaying.read()

    await vi.waitUntil(() => relaying.streamed.length === 5, patience)

    const { organizationId } = form
    const log = await relaying.forms.events.read({ organizationId, limit: 100 })
    expect(relaying.streamed.map(({ event }) => event)).toEqual(log)
    expect(relaying.streamed.map(({ subject }) => subject)).toEqual([
      `events.${organizationId}.form.created`,
      ...Array(4).fill(`events.${organizationId}.form.updated`),
    ])
    for (const { headers, event } of relaying.streamed) {
      expect(headers.get('Nats-Msg-Id')).toBe(event.id)
      expect(headers.get('Content-Type')).toBe(eventContentType)
    }
    await relaying.caughtUp()
  })

  it('finds events that nothing announces, such as those of formctl', async () => {
    await using relaying = await startRelaying()
    await relaying.relay()
    const form = await givenEvents(relaying, 0)
    await relaying.caughtUp()

    await relaying.rename(form)

    await relaying.caughtUp()
    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length === 2, patience)
  })

  it.each(['an announcement', 'a change of its own process'])(
    'does not wait for the next look after %s',
    async (cause) => {
      await using relaying = await startRelaying()
      let sequenced = 0
      const sequence = async () => {
        sequenced++
        return 0
      }
      const relay = await relaying.relay({ events: withMethods(() => ({ sequence })), pollMs: hourMs })
      const forms = await connectNats(relaying.server.urls.forms, 'forms')
      const announce = () => forms.publish(EventsRecorded.subject, EventsRecorded.encode({}))
      const wake = cause === 'an announcement' ? announce : relay.wake
      await vi.waitUntil(() => sequenced === 1, patience)

      for (let round = 0; round < 3; round++) {
        const before = sequenced
        const isCollected = () => {
          // Repeated, since the first announcement may come before the relay has subscribed.
          wake()
          return sequenced > before
        }
        await vi.waitUntil(isCollected, { ...patience, interval: 100 })
      }
      await forms.close()
    },
  )

  it('numbers events again at once while anything was moved, also if one of the forms could not be', async () => {
    await using relaying = await startRelaying()
    const rounds = 3
    let sequenced = 0
    const sequence = async () => (++sequenced < rounds ? 99 : 0)

    await relaying.relay({ events: withMethods(() => ({ sequence })), pollMs: hourMs })

    await vi.waitUntil(() => sequenced === rounds, patience)
  })

  it('streams an organization in order beside others that are written to, from two publishers', async () => {
    await using relaying = await startRelaying()
    const relays = [await relaying.relay(), await relaying.relay()]
    await relaying.read()
    const forms = await Promise.all(Array.from({ length: 40 }, () => givenForm(relaying.forms)))

    for (let change = 0; change < 10; change++) {
      await Promise.all(forms.map(relaying.rename))
      for (const relay of relays) relay.wake()
    }

    await vi.waitUntil(() => relaying.streamed.length >= 40 * 11, patience)
    for (const form of forms) expect(sequencesOf(relaying.streamed, form)).toEqual(upTo(11))
  })

  it.each([
    ['in atomic batches', true],
    ['one after another if the stream rejects batches', false],
  ])('publishes the events of a long log %s', async (_, allowsBatches) => {
    await using relaying = await startRelaying()
    const { forms, manager, streamed } = relaying
    let isHeld = false
    await relaying.relay({
      events: withMethods((log) => ({
        findUnstreamed: async (limit) => (isHeld ? [] : log.findUnstreamed(limit)),
      })),
    })
    const first = await givenForm(forms)
    await relaying.caughtUp()
    await manager.streams.update('EVENTS', { allow_atomic: allowsBatches })

    isHeld = true
    const form = await givenLongLog(relaying, 250)
    isHeld = false

    await relaying.read()
    await vi.waitUntil(() => streamed.length === 251, patience)
    expect(sequencesOf(streamed, first)).toEqual([1])
    expect(sequencesOf(streamed, form)).toEqual(upTo(250))
    const inBatches = streamed.filter(({ headers }) => headers.has('Nats-Batch-Id'))
    expect(inBatches).toHaveLength(allowsBatches ? 250 : 0)
  })

  it('that dies between publish and checkpoint leaves repeats to the next one, which the stream drops', async () => {
    await using relaying = await startRelaying()
    const form = await givenEvents(relaying, 9)
    const dying = await relaying.relay({
      events: withMethods(() => ({ markStreamed: () => Promise.reject(new Error('killed')) })),
    })
    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length === 10, patience)
    await dying.stop()
    expect(await relaying.forms.events.backlog()).toMatchObject({ unstreamed: 10 })
    await relaying.rename(form)

    await relaying.relay()

    await relaying.caughtUp()
    await vi.waitUntil(() => relaying.streamed.length >= 11, patience)
    expect(sequencesOf(relaying.streamed, form)).toEqual(upTo(11))
  })

  it('continues with the other organizations while one is slow', async () => {
    await using relaying = await startRelaying()
    const slow = await givenEvents(relaying, 1)
    const blocked = Promise.withResolvers<void>()
    await relaying.relay({
      events: withMethods((log) => ({
        read: async (query) => {
          if (query.organizationId === slow.organizationId) await blocked.promise
          return log.read(query)
        },
      })),
    })
    // More than the relay streams at the same time.
    const forms = await Promise.all(Array.from({ length: 100 }, () => givenForm(relaying.forms)))
    await relaying.read()

    await vi.waitUntil(() => relaying.streamed.length === forms.length, patience)
    expect(sequencesOf(relaying.streamed, slow)).toEqual([])
    blocked.resolve()

    await vi.waitUntil(() => relaying.streamed.length === forms.length + 2, patience)
    expect(sequencesOf(relaying.streamed, slow)).toEqual([1, 2])
  })

  it('numbers events without NATS, and streams everything in order when it is back', async () => {
    await using relaying = await startRelaying()
    let sequenced = 0
    const sequence = async () => {
      sequenced++
      return 0
    }
    const relay = await relaying.relay({ events: withMethods(() => ({ sequence })) })
    const form = await givenEvents(relaying, 4)
    await relaying.caughtUp()

    process.kill(relaying.server.pid, 'SIGKILL')
    for (let change = 0; change < 50; change++) {
      await relaying.rename(form)
      relay.wake()
    }
    const before = sequenced
    await vi.waitUntil(() => sequenced > before + 2, patience)
    expect(await relaying.forms.events.backlog()).toMatchObject({ unstreamed: 50 })
    await relaying.server.restart()

    await relaying.caughtUp()
    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length >= 55, patience)
    expect(sequencesOf(relaying.streamed, form)).toEqual(upTo(55))
    expect(relay.lines.length).toBeLessThanOrEqual(2)
  })

  it('repeats a publish without a PubAck, and keeps the order', async () => {
    await using relaying = await startRelaying()
    const relay = await relaying.relay()
    const form = await givenEvents(relaying, 0)
    await relaying.caughtUp()

    process.kill(relaying.server.pid, 'SIGSTOP')
    for (let change = 0; change < 5; change++) await relaying.rename(form)
    await vi.waitUntil(() => relay.lines.includes('events could not be streamed: retrying'), patience)
    process.kill(relaying.server.pid, 'SIGCONT')

    await relaying.caughtUp()
    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length >= 6, patience)
    expect(sequencesOf(relaying.streamed, form)).toEqual(upTo(6))
  })

  it('continues when the store is available again, and logs each failure but its outage once a minute', async () => {
    await using relaying = await startRelaying()
    let isAway = true
    let failures = 0
    const orAway = <T>(call: () => Promise<T>, error = new Error('away')): Promise<T> => {
      if (!isAway) return call()
      failures++
      return Promise.reject(error)
    }
    const outage = new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'away')
    const relay = await relaying.relay({
      events: withMethods((log) => ({
        sequence: (limit) => orAway(() => log.sequence(limit)),
        findUnstreamed: (limit) => orAway(() => log.findUnstreamed(limit)),
        prune: (...args) => orAway(() => log.prune(...args), outage),
      })),
    })
    await givenEvents(relaying, 0)
    await vi.waitUntil(() => failures > 5, patience)
    isAway = false

    await relaying.caughtUp()
    expect(relay.lines.toSorted()).toEqual([
      'events cannot be numbered: retrying',
      'events cannot be streamed: retrying',
    ])
  })

  it('numbers events although its NATS user has no rights on EVENTS, as before an update of nats-server.conf', async () => {
    await using relaying = await startRelaying()
    const nats = await connectNats(relaying.server.urls.replies, 'publisher')
    let sequenced = 0
    const sequence = async () => {
      sequenced++
      return 0
    }
    const relay = await relaying.relay({ nats, events: withMethods(() => ({ sequence })) })
    await givenEvents(relaying, 0)

    await vi.waitUntil(() => sequenced > 2 && relay.lines.length > 1, patience)

    expect(relay.lines.toSorted()).toEqual([
      expect.stringMatching(/^NATS denies the subscription to events.recorded/),
      'events cannot be streamed: retrying',
    ])
    await relay.stop()
    await nats.close()
  })
})

describe.concurrent('the stream EVENTS', () => {
  it('has the age and the size of the configuration, also after they have changed', async () => {
    await using relaying = await startRelaying()
    const config = () =>
      relaying.manager.streams.info('EVENTS').then(
        (info) => info.config,
        () => undefined,
      )
    const relay = await relaying.relay()
    expect(await vi.waitUntil(config, patience)).toMatchObject({
      subjects: ['events.*.form.*'],
      storage: 'file',
      retention: 'limits',
      discard: 'old',
      max_consumers: 1_000,
      max_age: 7 * dayMs * 1e6,
      max_bytes: testEventsConfig.EVENTS_STREAM_BYTES,
      max_msgs_per_subject: 10_000,
    })
    await relay.stop()

    await relaying.relay({
      config: { ...testEventsConfig, EVENTS_STREAM_DAYS: 3_650, EVENTS_STREAM_BYTES: 2 ** 20 },
    })

    await vi.waitUntil(async () => (await config())?.max_bytes === 2 ** 20, patience)
    expect(await config()).toMatchObject({ max_age: 3_650 * dayMs * 1e6 })
  })

  it('drops only events of the organization that has too many of a type', async () => {
    await using relaying = await startRelaying()
    await relaying.relay({ config: { ...testEventsConfig, EVENTS_STREAM_PER_TYPE: 5 } })
    const quiet = await givenEvents(relaying, 3)
    await relaying.caughtUp()

    const loud = await givenEvents(relaying, 40)
    await relaying.caughtUp()
    await givenEvents(relaying, 10, { organizationId: loud.organizationId })
    await relaying.caughtUp()

    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length === 11, patience)
    expect(sequencesOf(relaying.streamed, quiet)).toEqual(upTo(4))
    expect(sequencesOf(relaying.streamed, loud)).toEqual([1, 42, 48, 49, 50, 51, 52])
  })

  it('is created again after it was deleted, and gets the events from then on', async () => {
    await using relaying = await startRelaying()
    await relaying.relay()
    const form = await givenEvents(relaying, 2)
    await relaying.caughtUp()
    await relaying.manager.streams.delete('EVENTS')

    await relaying.rename(form)

    await relaying.caughtUp()
    await relaying.read()
    await vi.waitUntil(() => relaying.streamed.length === 1, patience)
    expect(sequencesOf(relaying.streamed, form)).toEqual([4])
  })
})

describe.concurrent('retention', () => {
  const later = () => new Date(Date.now() + (testEventsConfig.EVENTS_RETENTION_DAYS + 1) * dayMs)

  it('deletes old events that are in the stream, except for the newest of each organization', async () => {
    await using relaying = await startRelaying()
    const form = await givenLongLog(relaying, 600)
    const first = await relaying.relay()
    await relaying.caughtUp()
    await first.stop()

    await relaying.relay({ now: later })

    const range = () => relaying.forms.events.range(form.organizationId)
    await vi.waitUntil(async () => (await range()).oldestSequence === 600, patience)
    expect(await range()).toEqual({ oldestSequence: 600, lastSequence: 600 })
  })

  it('deletes the oldest events of a log that has more than it may, and keeps the others', async () => {
    await using relaying = await startRelaying()
    const long = await givenLongLog(relaying, 300)
    const short = await givenEvents(relaying, 3)

    await relaying.relay({ config: { ...testEventsConfig, MAX_EVENTS_PER_ORGANIZATION: 50 } })
    await relaying.caughtUp()
    await relaying.relay({ config: { ...testEventsConfig, MAX_EVENTS_PER_ORGANIZATION: 50 } })

    const range = ({ organizationId }: StoredForm) => relaying.forms.events.range(organizationId)
    await vi.waitUntil(async () => (await range(long)).oldestSequence === 251, patience)
    expect(await range(long)).toEqual({ oldestSequence: 251, lastSequence: 300 })
    expect(await range(short)).toEqual({ oldestSequence: 1, lastSequence: 4 })
  })

  it('keeps young events, and those that are not in the stream', async () => {
    await using relaying = await startRelaying()
    const form = await givenEvents(relaying, 9)
    const prunes: Promise<number>[] = []
    const prune = (log: EventLog): Partial<EventLog> => ({
      prune: (...args) => {
        const pruned = log.prune(...args)
        prunes.push(pruned)
        return pruned
      },
    })
    const unstreamed = withMethods((log) => ({ ...prune(log), findUnstreamed: async () => [] }))

    const old = await relaying.relay({ now: later, events: unstreamed })
    await vi.waitUntil(() => prunes.length === 1, patience)
    await old.stop()
    await relaying.relay({ events: withMethods(prune) })
    await relaying.caughtUp()
    await relaying.relay({ events: withMethods(prune) })
    await vi.waitUntil(() => prunes.length === 3, patience)

    expect(await Promise.all(prunes)).toEqual([0, 0, 0])
    const range = await relaying.forms.events.range(form.organizationId)
    expect(range).toEqual({ oldestSequence: 1, lastSequence: 10 })
  })
})

describe.concurrent('a relay that stops', () => {
  it('ends soon while NATS does not respond', async () => {
    await using relaying = await startRelaying()
    const relay = await relaying.relay()
    await givenEvents(relaying, 0)
    await relaying.caughtUp()
    process.kill(relaying.server.pid, 'SIGSTOP')
    using _ = { [Symbol.dispose]: () => process.kill(relaying.server.pid, 'SIGCONT') }
    await Promise.all(Array.from({ length: 50 }, () => givenForm(relaying.forms)))
    relay.wake()

    const ended = await Promise.race([relay.stop().then(() => true), delay(15_000, false, { ref: false })])

    expect(ended).toBe(true)
  })
})
