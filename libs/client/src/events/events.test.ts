import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createClient, type FormEvent } from '../index.ts'
import { answered, failure, type Reaction, startServer } from '../testing.ts'

const sequenceOf = (number: number) => String(number).padStart(16, '0')

const newEvent = (number: number) => ({ type: 'form.updated', sequence: sequenceOf(number) })

const block = (number: number) =>
  `id: ${sequenceOf(number)}\nevent: form.updated\ndata: ${JSON.stringify(newEvent(number))}\n\n`

/** Sent at the start of a stream, with the position after which it starts. */
const hello = `:\nid: ${sequenceOf(0)}\n\n`

/** A stream of events, which ends afterwards. */
const streamOf = (...numbers: number[]): Reaction => ({ stream: [hello, ...numbers.map(block)] })

const page = (numbers: number[], { nextPageToken = '', last = 9 } = {}) =>
  answered({
    events: numbers.map(newEvent),
    nextPageToken,
    oldestSequence: sequenceOf(1),
    lastSequence: sequenceOf(last),
  })

const path = '/v2/organizations/acme/events'

/** The first events of a watch, and the requests for them. */
const watched = async (
  reactions: Reaction[],
  count: number,
  options: { afterSequence?: number | string; filter?: string } = { afterSequence: 0 },
) => {
  const server = await startServer(reactions)
  await using _ = server
  const events: number[] = []
  let error: unknown
  try {
    for await (const { sequence } of server.client.events.watch('acme', options)) {
      events.push(Number(sequence))
      if (events.length === count) break
    }
  } catch (caught) {
    error = caught
  }
  const urls = server.requests.map(({ url }) => decodeURIComponent(url).replace(path, ''))
  return { events, error, urls, waits: server.waits, requests: server.requests }
}

describe('events.list', () => {
  it('returns the events of all pages, also after an empty one', async () => {
    const pages = [page([6], { nextPageToken: 'a' }), page([], { nextPageToken: 'b' }), page([8])]
    await using server = await startServer(pages)
    const query = { afterSequence: sequenceOf(5), filter: 'type = "form.*"', pageSize: 2 }

    const events = await Array.fromAsync(server.client.events.list('acme', query))

    expect(events.map(({ sequence }) => Number(sequence))).toEqual([6, 8])
    expect(server.requests.map(({ url }) => decodeURIComponent(url))).toEqual([
      `${path}?pageSize=2&afterSequence=5&filter=type = "form.*"`,
      `${path}?pageSize=2&afterSequence=5&filter=type = "form.*"&pageToken=a`,
      `${path}?pageSize=2&afterSequence=5&filter=type = "form.*"&pageToken=b`,
    ])
  })

  it('returns pages with the bounds of the log', async () => {
    await using server = await startServer([page([1])])

    const pages = await Array.fromAsync(server.client.events.list('acme').pages())

    const bounds = { oldestSequence: sequenceOf(1), lastSequence: sequenceOf(9) }
    expect(pages).toEqual([{ items: [newEvent(1)], nextPageToken: '', ...bounds }])
  })
})

describe('events.get', () => {
  it('reads one event', async () => {
    await using server = await startServer([answered(newEvent(1))])

    expect(await server.client.events.get('acme', 'e')).toEqual(newEvent(1))
    expect(server.requests[0]!.url).toBe(`${path}/e`)
  })
})

describe('events.watch', () => {
  it('requests the stream after the given position', async () => {
    const { events, requests, urls } = await watched([streamOf(6, 7)], 2, { afterSequence: sequenceOf(5) })

    expect(events).toEqual([6, 7])
    expect(urls).toEqual(['/stream?afterSequence=5'])
    expect(requests[0]!.headers).toMatchObject({ accept: 'text/event-stream', 'x-api-key': 'fms_test' })
  })

  it('begins at the end of the log by default, whatever is recorded before it connects', async () => {
    const { events, urls } = await watched([page([1], { last: 3 }), streamOf(4)], 1, {})

    expect(events).toEqual([4])
    expect(urls).toEqual(['?pageSize=1', '/stream?afterSequence=3'])
  })

  it('reconnects after the last event when the stream ends or breaks off', async () => {
    const broken: Reaction = { stream: [hello, block(2), block(3).slice(0, 30)], ending: 'break off' }
    const { events, urls, waits } = await watched([streamOf(1), broken, 'hang up', streamOf(3)], 3)

    expect(events).toEqual([1, 2, 3])
    expect(urls.map((url) => url.at(-1))).toEqual(['0', '1', '2', '2'])
    expect(waits).toEqual([125, 125, 250])
  })

  it('drops events that it has read', async () => {
    const { events } = await watched([streamOf(1, 1, 2), streamOf(1, 2, 3)], 3)

    expect(events).toEqual([1, 2, 3])
  })

  it('reads events from the list that the stream has left out', async () => {
    const list = page([2, 3, 4, 5])
    const { events, urls } = await watched([{ stream: [block(1), block(4)] }, list], 4)

    expect(events).toEqual([1, 2, 3, 4])
    expect(urls).toEqual(['/stream?afterSequence=0', '?pageSize=100&afterSequence=1'])
  })

  it.each([
    ['in its middle', [2, 4, 5]],
    ['at its end', [2]],
    ['everywhere', []],
  ])('throws if the list has a gap, too: %s', async (_, numbers) => {
    const { events, error } = await watched([streamOf(1, 5), page(numbers)], 9)

    expect(events).toEqual([1, ...numbers.slice(0, 1)])
    expect(error).toMatchObject({ message: `The log has no event ${events.at(-1)! + 1}.` })
  })

  it('with a filter, accepts gaps, and continues after the last sequence of the stream', async () => {
    const first: Reaction = { stream: [hello, block(3), `id: ${sequenceOf(8)}\n\n`] }
    const filter = 'type = "form.updated"'
    const { events, urls } = await watched([first, streamOf(20)], 2, { afterSequence: 1, filter })

    expect(events).toEqual([3, 20])
    expect(urls).toEqual([
      `/stream?afterSequence=1&filter=${filter}`,
      `/stream?afterSequence=8&filter=${filter}`,
    ])
  })

  it.each([
    [400, 'EVENTS_PRUNED'],
    [400, 'AFTER_LAST_EVENT'],
    [401, 'API_KEY_INVALID'],
    [403, 'WRITE_FORBIDDEN'],
    [404, 'ORGANIZATION_NOT_FOUND'],
  ])('throws a %i when it reconnects', async (status, reason) => {
    const { events, error } = await watched([streamOf(1), failure(status, reason)], 2)

    expect(events).toEqual([1])
    expect(error).toMatchObject({ code: status, reason })
  })

  it('throws for a response that is not an event stream', async () => {
    const { error } = await watched([{ status: 200, text: 'Welcome to the hotel' }], 1)

    expect(error).toMatchObject({ code: 200, reason: 'UNKNOWN' })
  })

  it('retries the first connection like any other call', async () => {
    const tooMany = failure(429, 'TOO_MANY_STREAMS')
    const { error, urls, waits } = await watched(Array(9).fill(tooMany), 1)

    expect(error).toMatchObject({ reason: 'TOO_MANY_STREAMS' })
    expect(urls).toHaveLength(5)
    expect(waits).toEqual([125, 250, 500, 1_000])
  })

  it('reconnects without limit, with growing delays', async () => {
    const down = Array(8).fill(failure(503, 'UPSTREAM_UNAVAILABLE'))
    const { events, waits } = await watched([streamOf(1), ...down, streamOf(2)], 2)

    expect(events).toEqual([1, 2])
    expect(waits).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000])
  })

  it('reconnects after a minute where the service asks for more, but only once it has been connected', async () => {
    const away = { status: 503, headers: { 'retry-after': '120' }, text: 'Back soon' }

    const later = await watched([streamOf(1), away, streamOf(2)], 2)
    const never = await watched([away], 1)

    expect([later.events, later.waits]).toEqual([
      [1, 2],
      [125, 60_000],
    ])
    expect(never.error).toMatchObject({ code: 503, retryAfterSeconds: 120 })
  })

  it('has growing delays also when each connection ends immediately', async () => {
    const { waits } = await watched([...Array(4).fill({ stream: [hello] }), streamOf(1)], 1)

    expect(waits).toEqual([125, 250, 500, 1_000])
  })

  it("ends with the signal's reason, also while it waits for events", async () => {
    await using server = await startServer([{ stream: [block(1)], ending: 'stay open' }])
    const controller = new AbortController()
    const reason = new Error('enough')
    const { signal } = controller
    const events = server.client.events.watch('acme', { afterSequence: 0, signal })[Symbol.asyncIterator]()

    await events.next()
    const next = expect(events.next()).rejects.toBe(reason)
    controller.abort(reason)
    await next
  })

  it('closes the connection when the loop ends', async () => {
    const cancelled = Promise.withResolvers<void>()
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(block(1))),
      cancel: () => cancelled.resolve(),
    })
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const client = createClient({ baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_test', fetch })

    for await (const _ of client.events.watch('acme', { afterSequence: 0 })) break

    await cancelled.promise
  })

  it('reconnects when the server sends nothing for 20 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const silent = (signal: AbortSignal) =>
        new ReadableStream({
          start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        })
      const bodies = [silent, () => new Blob([block(1)]).stream()]
      const fetch = vi.fn(async (_: string, { signal }: RequestInit) => {
        const body = bodies.shift()!(signal!)
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      })
      const client = createClient({ baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_test', fetch })
      const events = client.events.watch('acme', { afterSequence: 0 })[Symbol.asyncIterator]()

      const first: Promise<IteratorResult<FormEvent>> = events.next()
      await vi.advanceTimersByTimeAsync(19_999)
      expect(fetch).toHaveBeenCalledOnce()
      await vi.advanceTimersByTimeAsync(10_000)

      expect((await first).value).toEqual(newEvent(1))
      expect(fetch).toHaveBeenCalledTimes(2)
      await events.return!()
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('events.watch, for any behaviour of connections,', () => {
  const lastSequence = 12
  const all = Array.from({ length: lastSequence }, (_, index) => index + 1)
  const isEven = (number: number) => number % 2 === 0

  /** What one stream does: repeats and loses events, and is cut after some bytes. */
  const behaviour = fc.record({
    repeats: fc.array(fc.integer({ min: 1, max: lastSequence }), { maxLength: 3 }),
    lost: fc.array(fc.integer({ min: 1, max: lastSequence }), { maxLength: 6 }),
    bytes: fc.integer({ min: 0, max: 700 }),
  })
  type Behaviour = typeof behaviour extends fc.Arbitrary<infer T> ? T : never

  /** A client of a log in which each stream has the next behaviour; the last streams work. */
  const clientOf = (behaviours: Behaviour[], { mayLose }: { mayLose: boolean }) => {
    const rest = [...behaviours]
    const fetch = async (url: string) => {
      const { pathname, searchParams } = new URL(url)
      const after = Number(searchParams.get('afterSequence'))
      const matching = searchParams.has('filter') ? all.filter(isEven) : all
      const events = matching.filter((number) => number > after)
      if (!pathname.endsWith('/stream')) {
        return Response.json({ events: events.map(newEvent), nextPageToken: '', lastSequence: '9' })
      }
      const { repeats, lost, bytes } = rest.shift() ?? { repeats: [], lost: [], bytes: Infinity }
      const sent = events.filter((number) => !(mayLose && lost.includes(number)))
      const early = repeats.filter((number) => number <= after)
      const text = [hello, ...[...early, ...sent].map(block)].join('').slice(0, bytes)
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
    }
    const clock = { sleep: async () => {}, random: () => 0 }
    return createClient({ baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_test', fetch }, clock)
  }

  const sequencesOf = async (events: AsyncIterable<FormEvent>) => {
    const sequences: number[] = []
    for await (const { sequence } of events) {
      if (sequences.push(Number(sequence)) && Number(sequence) === lastSequence) return sequences
    }
  }

  it('yields each event once and in order', async () => {
    const property = fc.asyncProperty(fc.array(behaviour, { maxLength: 8 }), async (behaviours) => {
      const { events } = clientOf(behaviours, { mayLose: true })

      expect(await sequencesOf(events.watch('acme', { afterSequence: 0 }))).toEqual(all)
    })
    await fc.assert(property)
  })

  it('with a filter, yields each matching event that is sent once and in order', async () => {
    const property = fc.asyncProperty(fc.array(behaviour, { maxLength: 8 }), async (behaviours) => {
      const { events } = clientOf(behaviours, { mayLose: false })
      const watch = events.watch('acme', { afterSequence: 0, filter: 'type = "even"' })

      expect(await sequencesOf(watch)).toEqual(all.filter(isEven))
    })
    await fc.assert(property)
  })
})
