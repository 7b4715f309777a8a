import { setTimeout as delay } from 'node:timers/promises'
import { openDirectoryStore } from '@fms/directory-store'
import { openFormsStore } from '@fms/forms-store'
import { type OpenEventStream, openEventStream } from '@fms/testkit/open-event-stream'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readStartConfig } from '../scripts/start-config.ts'
import { type Account, type System, startSystem } from './system.ts'

let system: System
let account: Account
const open: OpenEventStream[] = []

beforeAll(async () => {
  system = await startSystem({ env: { DRAIN_MS: '500' } })
  account = await system.account()
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})
afterAll(() => system[Symbol.asyncDispose]())

/** How long a reader waits before it reconnects, in milliseconds: as long as the client. */
const retryMs = 125

const streamPath = ({ slug }: Account) => `/organizations/${slug}/events/stream`

const stream = async (query = '', headers: Record<string, string> = {}, as = account) => {
  const url = `${system.baseUrl}${streamPath(as)}${query}`
  const opened = await openEventStream(url, { 'x-api-key': as.apiKey, ...headers })
  open.push(opened)
  return opened
}

const write = async (count: number, as = account) => {
  for (let form = 0; form < count; form++) {
    const { status } = await system.call(as, 'POST', as.forms, { form: {} })
    expect(status).toBe(200)
  }
}

const wait = <T>(condition: () => T) => vi.waitUntil(condition, { timeout: 30_000, interval: 20 })

const sequencesOf = (streams: OpenEventStream[]) =>
  streams.flatMap((each) => each.events().map(({ sequence }) => Number(sequence)))

const lastIdOf = ({ blocks }: OpenEventStream) => blocks.findLast(({ id }) => id !== undefined)!.id!

const lastSequence = async () =>
  Number((await system.call(account, 'GET', `/organizations/${account.slug}/events`)).body.lastSequence)

const from = (start: number, count: number) => Array.from({ length: count }, (_, index) => start + index + 1)

describe('a stream through the gateway', () => {
  it('sends events as they are recorded, as a read returns them', async () => {
    const start = await lastSequence()
    const opened = await stream()
    await write(3)
    await wait(() => opened.events().length === 3)

    const { body } = await system.call(
      account,
      'GET',
      `/organizations/${account.slug}/events?afterSequence=${start}`,
    )
    expect(opened.events()).toEqual(body.events)
    expect(opened.headers['content-type']).toBe('text/event-stream')
  })

  it('does not keep forms from stopping while its reader reconnects', async () => {
    const stop = new AbortController()
    const read = async () => {
      while (!stop.signal.aborted) {
        const current = await stream()
        await wait(() => current.ended())
        await delay(retryMs)
      }
    }
    const reading = read()
    await wait(() => open[0]?.blocks.length)
    const forms = system.processes.get('forms')!
    await system.end('forms', 'SIGTERM')
    stop.abort()
    await reading
    await system.start('forms')

    expect(forms.exitCode).toBe(0)
  })

  it('is resumed without a loss after a kill of forms, and after a restart of the gateway', async () => {
    const start = await lastSequence()
    const streams = [await stream()]
    await wait(() => streams[0]!.blocks.length > 0)
    const interruptions = [
      () => system.end('forms', 'SIGKILL'),
      () => system.end('forms', 'SIGTERM'),
      () => system.end('gateway', 'SIGTERM'),
    ]
    for (const [index, interrupt] of interruptions.entries()) {
      await write(2)
      const current = streams.at(-1)!
      const interrupted = interrupt()
      await wait(() => current.ended())
      expect([index, current.ended()]).toEqual([index, 'complete'])
      await interrupted
      await system.start(index < 2 ? 'forms' : 'gateway')
      await write(2)
      streams.push(await stream('', { 'last-event-id': lastIdOf(current) }))
    }
    await wait(() => sequencesOf(streams).length === 12)

    expect(sequencesOf(streams)).toEqual(from(start, 12))
  })

  it('ends soon after the key is revoked, and after the membership has ended', async () => {
    const [revoked, removed] = [await system.account({ in: account }), await system.account({ in: account })]
    const streams = [await stream('', {}, revoked), await stream('', {}, removed), await stream()]
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const { keyId } = (await directory.listKeys()).find(({ userId }) => userId === revoked.userId)!
    await directory.revokeKey(keyId)
    await directory.removeMember(removed)
    const startedAt = performance.now()
    await wait(() => streams[0]!.ended() && streams[1]!.ended())

    // Five seconds on a machine that is not busy.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(streams.map((each) => each.ended())).toEqual(['complete', 'complete', undefined])
    expect((await stream('', {}, revoked)).status).toBe(401)
    expect((await stream('', {}, removed)).status).toBe(404)
  })

  it('is refused when the key has five, which do not count as requests in flight', async () => {
    const own = await system.account({ in: account })
    const streams = await Promise.all(Array.from({ length: 5 }, () => stream('', {}, own)))
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])

    const refused = await system.call(own, 'GET', streamPath(own))
    expect([refused.status, refused.body.error.details[0]]).toMatchObject([
      429,
      { reason: 'TOO_MANY_STREAMS', metadata: { scope: 'key', limit: '5' } },
    ])
    // Streams of earlier tests may be closing.
    await wait(async () => {
      const metrics = await (await fetch(`${system.urls.gateway}/metrics`)).text()
      return metrics.includes('\nevent_streams_open 5\n') && metrics.includes('\nhttp_requests_in_flight 1\n')
    })
  })

  it('continues while NATS is away', async () => {
    const start = await lastSequence()
    const opened = await stream()
    await system.nats.stop()
    try {
      await write(3)
      await wait(() => opened.events().length === 3)
    } finally {
      await system.nats.restart()
    }

    expect(sequencesOf([opened])).toEqual(from(start, 3))
  })

  it('is a 400 for removed events, like the list', async () => {
    const pruned = await system.account()
    await write(4, pruned)
    await using store = await openFormsStore(readStartConfig({ DATA_DIR: system.dataDir }).FORMS_STORE_URL)
    const { organizationId } = pruned
    const [, , third] = await store.events.read({ organizationId, limit: 3 })
    await store.events.markStreamed(organizationId, 4)
    while ((await store.events.prune(new Date(third!.time), 1_000)) > 0);
    const { oldestSequence } = await store.events.range(organizationId)
    expect(oldestSequence).toBe(3)

    const events = `/organizations/${pruned.slug}/events`
    for (const path of [`${events}?afterSequence=1`, `${streamPath(pruned)}?afterSequence=1`]) {
      const { status, body } = await system.call(pruned, 'GET', path)
      expect([status, body.error.status, body.error.details[0]]).toMatchObject([
        400,
        'OUT_OF_RANGE',
        { reason: 'EVENTS_PRUNED', metadata: { oldestSequence: '0000000000000003' } },
      ])
    }
    const resumed = await stream('', { 'last-event-id': '0000000000000002' }, pruned)
    await wait(() => resumed.events().length === 2)
    expect((await stream('', { 'last-event-id': '0000000000000001' }, pruned)).status).toBe(400)
  })
})
