import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError } from '@fms/aip'
import type { Identity } from '@fms/contracts'
import { openEventStream } from '@fms/testkit/open-event-stream'
import { describe, expect, it, vi } from 'vitest'
import { givenEvents, pruneTo, sequencesOf } from '../../testing/given-events.ts'
import { refusalOf, startForms } from '../../testing/start-forms.ts'

/** The service on a port, and streams of it that are closed before the service. */
const startStreaming = async () => {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startForms())
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.app.server.address() as AddressInfo
  const disposer = stack.move()
  const pathWith = (query = '') => `/organizations/${service.organizationId}/events/stream${query}`
  return {
    ...service,
    pathWith,
    /** Opens a stream. Resolves with its head. */
    open: async (query = '', headers: Record<string, string> = {}, identity: Partial<Identity> = {}) =>
      disposer.use(
        await openEventStream(`http://127.0.0.1:${port}${pathWith(query)}`, {
          ...service.headersOf(identity),
          ...headers,
        }),
      ),
    refused: async (query: string, headers: Record<string, string> = {}) =>
      refusalOf(await service.send({ url: pathWith(query), headers })),
    [Symbol.asyncDispose]: () => disposer.disposeAsync(),
  }
}

const wait = <T>(condition: () => T) => vi.waitUntil(condition, { timeout: 20_000, interval: 20 })

describe('GET /organizations/{organization}/events/stream', () => {
  it('sends a comment with the position at once, then each event as it is recorded', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 2)

    const stream = await service.open()

    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    await wait(() => stream.blocks.length > 0)
    expect(stream.blocks).toEqual([{ id: '0000000000000002', hasComment: true }])

    await givenEvents(service, 2)
    await wait(() => stream.events().length === 2)
    const { events } = (
      await service.send({ url: service.pathWith().replace('/stream', '?afterSequence=2') })
    ).json()
    expect(stream.events()).toEqual(events)
    expect(stream.blocks.slice(1)).toEqual(
      events.map((event: { sequence: string; type: string }) => ({
        id: event.sequence,
        event: event.type,
        data: JSON.stringify(event),
        hasComment: false,
      })),
    )
  })

  it('begins after Last-Event-ID, else after afterSequence', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 5)

    const streams = [
      await service.open('?afterSequence=1', { 'last-event-id': '0000000000000003' }),
      await service.open('?afterSequence=0000000000000002'),
      await service.open('?afterSequence=0'),
      await service.open('?afterSequence=4', { 'last-event-id': '' }),
      await service.open('?afterSequence=5'),
    ]
    await wait(() => streams[2]!.events().length === 5)
    await givenEvents(service, 4)
    await wait(() => streams.every((stream) => stream.events().at(-1)?.sequence === '0000000000000009'))

    const found = streams.map((stream) => sequencesOf(stream.events()))
    expect(found).toEqual([
      [4, 5, 6, 7, 8, 9],
      [3, 4, 5, 6, 7, 8, 9],
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
      [5, 6, 7, 8, 9],
      [6, 7, 8, 9],
    ])
  })

  it('sends a long log in order while others write', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 600)

    const stream = await service.open('?afterSequence=0')
    for (let burst = 0; burst < 6; burst++) await givenEvents(service, 100)
    await wait(() => stream.events().length === 1_200)

    expect(sequencesOf(stream.events())).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1))
  })

  it('sends the events that match the filter, and moves its position past the others', async () => {
    await using service = await startStreaming()
    const [form] = await givenEvents(service, 300)
    const [ofForm, ofType] = [
      await service.open(`?afterSequence=0&filter=form=${form}`),
      await service.open('?afterSequence=0&filter=type=form.deleted'),
    ]
    await service.forms.delete({ organizationId: service.organizationId, formRef: form! }, () => {})
    await wait(() => ofForm.events().length === 2 && ofType.events().length === 1)
    await givenEvents(service, 1)

    expect(sequencesOf(ofForm.events())).toEqual([1, 301])
    expect(sequencesOf(ofType.events())).toEqual([301])
    await wait(() => ofType.blocks.at(-1)!.id === '0000000000000302')
    expect(ofType.blocks.at(-1)).toEqual({ id: '0000000000000302', hasComment: true })
  })

  it('is read by every role, for the organization of the identity token only', async () => {
    await using service = await startStreaming()

    expect((await service.open('', {}, { role: 'viewer', readOnly: true })).status).toBe(200)
    const { code, reason } = refusalOf(
      await service.send({ url: service.pathWith() }, { organizationId: randomUUID() }),
    )
    expect([code, reason]).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
  })

  it('has the events of its organization only', async () => {
    await using service = await startStreaming()
    const stream = await service.open()
    await service.given.form({}, randomUUID())
    await givenEvents(service, 1)
    await wait(() => stream.events().length === 1)

    expect(stream.events()[0].source).toBe(`/v2/organizations/${service.organizationId}`)
  })

  it('responds to HEAD with its head alone', async () => {
    await using service = await startStreaming()

    const response = await service.send({ method: 'HEAD', url: service.pathWith() })

    expect([response.statusCode, response.headers['content-type'], response.body]).toEqual([
      200,
      'text/event-stream',
      '',
    ])
  })

  it.each<[string, string, object]>([
    ['?afterSequence=x', '', { reason: 'INVALID_REQUEST', fields: ['afterSequence'] }],
    ['?pageSize=1', '', { reason: 'INVALID_REQUEST', fields: ['pageSize'] }],
    ['?orderBy=sequence', '', { reason: 'INVALID_REQUEST', fields: ['orderBy'] }],
    ['?filter=a&filter=b', '', { reason: 'INVALID_REQUEST', fields: ['filter'] }],
    ['?filter=name=x', '', { reason: 'INVALID_FILTER', fields: ['filter'] }],
    ['', 'abc', { reason: 'INVALID_REQUEST', fields: ['Last-Event-ID'] }],
    ['', '-1', { reason: 'INVALID_REQUEST', fields: ['Last-Event-ID'] }],
    ['', '9999999999999999', { reason: 'INVALID_REQUEST', fields: ['Last-Event-ID'] }],
  ])('is a 400 for the query %j and the Last-Event-ID %j', async (query, lastEventId, expected) => {
    await using service = await startStreaming()

    const refusal = await service.refused(query, lastEventId ? { 'last-event-id': lastEventId } : {})

    expect(refusal).toMatchObject({ code: 400, ...expected })
  })

  it('is a 400 when events after its start have been removed', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 6)
    await pruneTo(service, 4)

    for (const [query, headers] of [
      ['?afterSequence=3', {}],
      ['?afterSequence=0&filter=type=x', {}],
      ['?afterSequence=5', { 'last-event-id': '0000000000000003' }],
    ] as const) {
      expect(await service.refused(query, headers)).toMatchObject({
        code: 400,
        status: 'OUT_OF_RANGE',
        reason: 'EVENTS_PRUNED',
        metadata: { oldestSequence: '0000000000000005', lastSequence: '0000000000000006' },
      })
    }
    const stream = await service.open('?afterSequence=4')
    await wait(() => stream.events().length === 2)
  })

  it('is a 400 when its start is after the last event', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 3)

    for (const [query, headers] of [
      ['?afterSequence=4', {}],
      ['?afterSequence=9007199254740991&filter=type=x', {}],
      ['?afterSequence=1', { 'last-event-id': '0000000000000004' }],
    ] as const) {
      expect(await service.refused(query, headers)).toMatchObject({
        code: 400,
        status: 'OUT_OF_RANGE',
        reason: 'AFTER_LAST_EVENT',
        metadata: { lastSequence: '0000000000000003' },
      })
    }
    const stream = await service.open('?afterSequence=3')
    await givenEvents(service, 1)
    await wait(() => stream.events().length === 1)
  })
})

describe('an open event stream', () => {
  it('has a comment every five seconds', async () => {
    await using service = await startStreaming()
    const stream = await service.open()

    await wait(() => stream.blocks.length === 3)

    expect(stream.text()).toBe(':\nid: 0000000000000000\n\n'.repeat(3))
  })

  it('polls the log once for all streams of an organization, and not after the last one', async () => {
    await using service = await startStreaming()
    const read = vi.spyOn(service.forms.events, 'read')
    const range = vi.spyOn(service.forms.events, 'range')
    const streams = await Promise.all(Array.from({ length: 20 }, () => service.open()))
    range.mockClear()

    await givenEvents(service, 1)
    await wait(() => streams.every((stream) => stream.events().length === 1))
    expect(read.mock.calls.filter(([{ from }]) => from === 1).length).toBeLessThan(10)
    expect(range).not.toHaveBeenCalled()

    for (const stream of streams) stream.close()
    await wait(() => streams.every((stream) => stream.ended()))
    await wait(async () => {
      read.mockClear()
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      return read.mock.calls.length === 0
    })
  })

  it('is no request in flight, and ends when the service drains, after a whole event', async () => {
    await using service = await startStreaming()
    const stream = await service.open()
    const inFlight = async () =>
      /http_requests_in_flight (\d+)/.exec((await service.send({ url: '/metrics' })).body)![1]
    // The request for metrics itself.
    expect(await inFlight()).toBe('1')

    const draining = service.app.drain(10_000)
    await wait(() => stream.ended())
    await draining

    expect(stream.ended()).toBe('complete')
    expect(stream.text().endsWith('\n\n')).toBe(true)
  })

  it('ends at once if the service drains while its head is prepared', async () => {
    await using service = await startStreaming()
    const range = service.forms.events.range.bind(service.forms.events)
    const [requested, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    vi.spyOn(service.forms.events, 'range').mockImplementationOnce(async (organizationId) => {
      requested.resolve()
      await proceed.promise
      return range(organizationId)
    })
    const opened = service.open()
    await requested.promise
    const draining = service.app.drain(3_600_000)
    proceed.resolve()
    const stream = await opened
    await wait(() => stream.ended())
    await draining

    expect([stream.ended(), stream.blocks.length]).toEqual(['complete', 1])
  })

  it('buffers 64 KiB for a reader that is slow', async () => {
    await using service = await startStreaming()
    const responses: ServerResponse[] = []
    service.app.server.on('request', (_, response) => responses.push(response))
    const stream = await service.open()
    const [response] = responses
    // Nothing leaves the process, as with a connection that is full.
    response!.socket!.cork()
    await givenEvents(service, 600)
    await wait(() => response!.writableNeedDrain)

    expect(response!.writableLength).toBeLessThan((64 + 4) * 1024)
    response!.socket!.uncork()
    await wait(() => stream.events().length === 600)
    expect(sequencesOf(stream.events())).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
  })

  it('continues when the store is unavailable for a moment', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 600)
    const unavailable = () =>
      Promise.reject(new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'Repeat the request.'))
    vi.spyOn(service.forms.events, 'read')
      .mockImplementationOnce(unavailable)
      .mockImplementationOnce(unavailable)
    const stream = await service.open('?afterSequence=0')

    await wait(() => stream.events().length === 600)

    expect(sequencesOf(stream.events())).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
  })

  it('ends when retention removes events that it has not sent', async () => {
    await using service = await startStreaming()
    await givenEvents(service, 600)
    const read = service.forms.events.read.bind(service.forms.events)
    const spy = vi.spyOn(service.forms.events, 'read').mockImplementation(async (query) => {
      if (query.from === 1) {
        spy.mockRestore()
        await pruneTo(service, 400)
      }
      return read(query)
    })
    const stream = await service.open('?afterSequence=0')

    await wait(() => stream.ended())

    expect([stream.ended(), stream.events()]).toEqual(['complete', []])
  })
})
