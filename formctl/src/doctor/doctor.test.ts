import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  deadLetterStream,
  eventsStream,
  maxBackupAgeHours,
  publisherConsumer,
  publishStream,
  repliesStream,
  replyCounterConsumer,
} from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import { connectNats } from '@fms/service-kit'
import { startMongo, startStandaloneMongo } from '@fms/testkit/mongodb'
import { startNatsServer } from '@fms/testkit/nats-server'
import { AckPolicy, jetstreamManager } from '@nats-io/jetstream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl } from '../testing/run-formctl.ts'
import { type Check, checkClock } from './check.ts'
import { backupCheck, checkFreeSpace } from './data-dir.ts'
import { checkCorsOrigins, checkTrustProxy } from './edge.ts'
import { checkNatsRoom, checkNatsVersion } from './nats.ts'
import { checkStoreState, checkTransactionLifetime, relayCheck, revisionsCheck } from './stores.ts'

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  givenEnvironment({})
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const variables = [
  'DIRECTORY_STORE_URL',
  'FORMS_STORE_URL',
  'NATS_URL',
  'INTERNAL_SECRET',
  'PORT',
  'GATEWAYS',
  'DELETED_FORMS_DAYS',
  'TRUST_PROXY',
  'CORS_ORIGINS',
  'FORMS_API_URL',
]

const givenEnvironment = (env: Record<string, string>) => {
  for (const name of variables) vi.stubEnv(name, env[name] ?? '')
  vi.stubEnv('DATA_DIR', dataDir)
}

const doctor = async () => {
  const { code, stdout, stderr } = await runFormctl(['doctor', '--json'])
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] }
  return { code, ok, stderr, checks, of: (name: string) => checks.find(({ check }) => check === name) }
}

/** Creates the streams and consumers that the publisher and forms create when they start. */
const givenStreams = async (url: string) => {
  const nats = await connectNats(url, 'test')
  const manager = await jetstreamManager(nats)
  for (const { name, subjects } of [publishStream, deadLetterStream, eventsStream, repliesStream]) {
    await manager.streams.add({ name, subjects: [...subjects] })
  }
  const consumer = (durable_name: string) => ({ durable_name, ack_policy: AckPolicy.Explicit })
  await manager.consumers.add(publishStream.name, consumer(publisherConsumer))
  await manager.consumers.add(repliesStream.name, consumer(replyCounterConsumer))
  await nats.close()
}

describe('formctl doctor', () => {
  it('fails no check before the first start, and creates nothing', async () => {
    const { code, ok, of, checks } = await doctor()

    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(of('directory store')).toMatchObject({
      status: 'warn',
      advice: expect.stringContaining('npm start'),
    })
    expect(of('nats')).toMatchObject({ status: 'warn', message: expect.stringContaining('not checked') })
    expect(of('versions')!.message).toContain(process.versions.node)
    await doctor().then((again) => expect(again.checks).toHaveLength(checks.length))
  })

  it('passes all checks with a running system in DATA_DIR', async () => {
    await using nats = await startNatsServer({ dataDir })
    await givenStreams(nats.urls.operator)
    await runFormctl(['migrate'])
    await runFormctl(['backup', join(dataDir, 'backup')])

    const { code, checks } = await doctor()

    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(code).toBe(0)
    expect(checks.map(({ check }) => check)).toEqual([
      'versions',
      'environment',
      'TRUST_PROXY',
      'CORS_ORIGINS',
      'disk',
      'backup',
      'directory store',
      'forms store',
      'relay of events',
      'revisions',
      'nats',
      'stream PUBLISH',
      'clock of the NATS server',
      'room of NATS',
      'consumer publisher',
      'stream PUBLISH_DEAD',
      'stream EVENTS',
      'stream REPLIES',
      `consumer ${replyCounterConsumer}`,
    ])
  })

  it('prints a line for each check, followed by the advice', async () => {
    const { stdout } = await runFormctl(['doctor'])

    expect(stdout).toMatch(/^ok {4}versions {9}Node .*\n/)
    expect(stdout).toMatch(
      /^warn {2}forms store {6}does not exist yet at .*\/forms\.db\n {23}→ .*npm start or formctl migrate creates a new store/m,
    )
  })

  it('accepts the smallest value that the gateway accepts', async () => {
    vi.stubEnv('MAX_BUFFERED_RESPONSE_BYTES', '5767168')

    expect((await doctor()).of('environment')!.status).toBe('ok')
  })

  it('fails where it cannot know whether a store exists: DATA_DIR is a file', async () => {
    const file = join(dataDir, 'file')
    writeFileSync(file, '')
    vi.stubEnv('DATA_DIR', file)

    const { code, of } = await doctor()

    expect(code).toBe(1)
    expect(of('forms store')).toMatchObject({ status: 'fail', message: expect.stringContaining('ENOTDIR') })
  })

  it('fails if streams are missing, and exits with 1', async () => {
    await using nats = await startNatsServer({ dataDir })

    const { code, ok, stderr, of } = await doctor()

    expect({ code, ok, stderr }).toEqual({ code: 1, ok: false, stderr: 'error: 1 of 9 checks failed.\n' })
    expect(of('nats')!.status).toBe('ok')
    expect(of('stream PUBLISH')).toMatchObject({
      status: 'fail',
      advice: expect.stringContaining('publisher'),
    })
    expect(nats.port).toBeGreaterThan(0)
  })

  it('warns if the stream of events has other limits than the variables', async () => {
    await using nats = await startNatsServer({ dataDir })
    await givenStreams(nats.urls.operator)
    vi.stubEnv('EVENTS_STREAM_BYTES', '1099511627776')
    vi.stubEnv('EVENTS_STREAM_DAYS', '0')
    vi.stubEnv('EVENTS_STREAM_PER_TYPE', '5')

    const { of } = await doctor()

    expect(of('stream EVENTS')).toMatchObject({
      status: 'warn',
      message:
        'exists, 0 messages; EVENTS_STREAM_BYTES is 1099511627776, but the stream has -1, EVENTS_STREAM_PER_TYPE is 5, but the stream has -1',
      advice: expect.stringContaining('set it lower'),
    })
  })

  it('warns if the user of NATS_URL may not inspect the streams', async () => {
    await using nats = await startNatsServer({ dataDir })
    givenEnvironment({ NATS_URL: nats.urls.gateway })

    const { code, of } = await doctor()

    expect(code).toBe(0)
    expect(of('stream PUBLISH')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^not checked/),
    })
  })

  it('warns of commands that wait without a consumer, and of dead letters', async () => {
    await using server = await startNatsServer({ dataDir })
    await givenStreams(server.urls.operator)
    const gateway = await connectNats(server.urls.gateway, 'test')
    gateway.publish('publish.form', '{}')
    await gateway.drain()
    const publisher = await connectNats(server.urls.publisher, 'test')
    publisher.publish('publish.dead.form', '{}')
    await publisher.drain()

    const { code, of } = await doctor()

    expect(code).toBe(0)
    expect(of('consumer publisher')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('1 messages'),
    })
    expect(of('stream PUBLISH_DEAD')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^1 publish/),
    })
  })

  it.each([
    ['an unreachable server', () => 'nats://127.0.0.1:1'],
    ['a wrong password', (port: number) => `nats://publisher:wrong@127.0.0.1:${port}`],
  ])('fails for %s, without printing the password', async (_, url) => {
    await using server = await startNatsServer({ dataDir })
    givenEnvironment({ NATS_URL: url(server.port) })

    const { code, of } = await doctor()

    expect(code).toBe(1)
    expect(of('nats')).toMatchObject({ status: 'fail', advice: expect.stringContaining('Check NATS_URL') })
    expect(of('nats')!.message).not.toContain('wrong')
  })

  it('checks stores on MongoDB: schema, writes, the clock and the lifetime of transactions', async () => {
    await using mongo = await startMongo()
    givenEnvironment({ DIRECTORY_STORE_URL: mongo.url, FORMS_STORE_URL: mongo.url })

    const before = await doctor()
    expect(before.code).toBe(1)
    expect(before.of('forms store')).toMatchObject({ status: 'fail', advice: 'Run formctl migrate.' })

    await runFormctl(['migrate'])
    const after = await doctor()
    expect(after.code).toBe(0)
    for (const store of ['directory store', 'forms store']) {
      expect(after.of(store)).toMatchObject({ status: 'ok', message: expect.stringMatching(/^MongoDB \d/) })
      expect(after.of(`clock of the ${store}`)?.status).toBe('ok')
      expect(after.of(`transactions of the ${store}`)?.message).toMatch(
        /^a killed process locks forms for|^not checked: the server does not report transactionLifetimeLimitSeconds$/,
      )
    }
  })

  it('fails on a standalone MongoDB, with the commands that make it a replica set', async ({ skip }) => {
    await using mongo = await startStandaloneMongo()
    if (!mongo) return skip()
    givenEnvironment({ DIRECTORY_STORE_URL: mongo.url, FORMS_STORE_URL: mongo.url })

    const { code, of } = await doctor()
    const migrate = await runFormctl(['migrate'])

    expect(code).toBe(1)
    for (const store of ['directory store', 'forms store']) {
      expect(of(store)).toMatchObject({
        status: 'fail',
        message: expect.stringMatching(/^MongoDB \d.* is a standalone server/),
        advice: expect.stringContaining("mongosh --eval 'rs.initiate()'"),
      })
    }
    expect(migrate.code).toBe(1)
    expect(migrate.stderr).toMatch(/^error: The server of the store .* mongosh --eval 'rs\.initiate\(\)'/)
  })

  it('reports the problem of each store, without printing passwords', async () => {
    mkdirSync(join(dataDir, 'folder'))
    writeFileSync(join(dataDir, 'forms.db'), 'this is no database, and is long enough to be read as one')
    givenEnvironment({ DIRECTORY_STORE_URL: 'mongodb://ada:secret@127.0.0.1:1/directory' })

    const { code, of } = await doctor()

    expect(code).toBe(1)
    expect(of('directory store')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('ECONNREFUSED'),
    })
    expect(of('forms store')).toMatchObject({ status: 'fail', message: 'file is not a database' })
    expect(JSON.stringify(of('directory store'))).not.toContain('secret')
  })

  it('warns of events that no publisher has relayed for a minute', async () => {
    await runFormctl(['migrate'])
    await using store = await openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)
    const record = newFormRecord()
    await store.importForm(record)

    expect((await doctor()).of('relay of events')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^1 events wait, the oldest for \d+ s$/),
    })

    vi.setSystemTime(Date.now() + 90_000)
    try {
      expect((await doctor()).of('relay of events')).toMatchObject({
        status: 'warn',
        message: expect.stringMatching(/^1 events wait, the oldest for (89|9\d) s$/),
        advice: expect.stringContaining('publisher'),
      })
    } finally {
      vi.useRealTimers()
    }

    await store.events.markStreamed(record.organizationId, 1)
    expect((await doctor()).of('relay of events')).toMatchObject({ status: 'ok', message: 'is up to date' })
  })

  it('warns until a backup has succeeded, and of a note that cannot be read', async () => {
    await runFormctl(['migrate'])
    expect((await doctor()).of('backup')).toMatchObject({
      status: 'warn',
      message: 'formctl backup has never succeeded here',
      advice: expect.stringContaining('--keep 7'),
    })

    await runFormctl(['backup', join(dataDir, 'backup')])
    expect((await doctor()).of('backup')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^the last good one is of \d{4}-.*Z, in .*backup$/),
    })

    writeFileSync(join(dataDir, 'last-backup.json'), '{}')
    expect((await doctor()).of('backup')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('cannot be read'),
    })
  })

  it('warns of requests of a proxy that TRUST_PROXY does not name, as the running gateway counts them', async () => {
    const gateway = createServer((request, response) =>
      response.end(request.url === '/metrics' ? 'http_untrusted_forwarded_total 3\n' : ''),
    ).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const { port } = gateway.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}`
    writeFileSync(join(dataDir, 'system.json'), JSON.stringify({ baseUrl }))

    expect((await doctor()).of('TRUST_PROXY')).toMatchObject({
      status: 'warn',
      message:
        'is not set: no proxy is trusted; the gateway ignored X-Forwarded-For in 3 requests since it started',
    })

    gateway.close()
    expect((await doctor()).of('TRUST_PROXY')?.status).toBe('ok')
  })

  it('names every variable that is invalid for a service', async () => {
    givenEnvironment({
      PORT: 'eighty',
      GATEWAYS: '0',
      DELETED_FORMS_DAYS: '-1',
      INTERNAL_SECRET: 'short',
      NATS_URL: 'nonsense',
      TRUST_PROXY: '10.0.0.0/8, 1',
      CORS_ORIGINS: 'https://app.example.com/',
    })

    const { code, of } = await doctor()

    expect(code).toBe(1)
    expect(of('environment')).toMatchObject({ status: 'fail' })
    for (const problem of [
      'PORT',
      'GATEWAYS',
      'DELETED_FORMS_DAYS',
      'INTERNAL_SECRET',
      'NATS_URL',
      'TRUST_PROXY must be addresses or ranges',
      'CORS_ORIGINS names "https://app.example.com/", which is not an origin: write https://app.example.com',
    ])
      expect(of('environment')!.message).toContain(problem)
    expect(of('CORS_ORIGINS')).toBeUndefined()
    expect(of('nats')).toMatchObject({ status: 'fail' })
  })
})

describe('the status', () => {
  const state = {
    engine: 'SQLite' as const,
    engineVersion: '3.53',
    version: 2,
    oldestVersion: 1,
    neededVersion: 2,
  }

  it.each([
    ['ok', {}],
    ['fail', { version: 1 }],
    ['fail', { refusesWrites: 'attempt to write a readonly database' }],
    ['warn', { version: 3 }],
    ['fail', { version: 3, oldestVersion: 3 }],
    ['fail', { version: 1, oldestVersion: 3 }],
  ])('of a store: %s for %j', (status, fields) => {
    expect(checkStoreState('forms store', { ...state, ...fields }).status).toBe(status)
  })

  it('of a store includes its schema version and the oldest release that may use it', () => {
    const { message } = checkStoreState('forms store', { ...state, version: 3, oldestVersion: 2 })

    expect(message).toContain('schema 3 for releases with 2 or later')
  })

  it.each([
    [5, 'ok', /at most 5 s$/, undefined],
    [
      60,
      'warn',
      /up to 60 s$/,
      /^Run on each member: mongosh .*setParameter: 1, transactionLifetimeLimitSeconds: 5 /,
    ],
    ['forbidden', 'warn', /^not checked: the user must not read/, /clusterMonitor/],
    ['not reported', 'ok', /^not checked: the server does not report/, undefined],
  ] as const)('of the lifetime of transactions: %s s: %s', (lifetime, status, message, advice) => {
    const check = checkTransactionLifetime('the forms store', lifetime)

    expect(check).toMatchObject({ status, message: expect.stringMatching(message) })
    if (advice) expect(check.advice).toMatch(advice)
    else expect(check.advice).toBeUndefined()
  })

  it.each([
    [50_000, 'ok'],
    [2_048, 'ok'],
    [2_047, 'warn'],
    [65, 'warn'],
    [64, 'fail'],
  ])('of a disk with %i MiB free: %s', (freeMiB, status) => {
    const { advice, ...check } = checkFreeSpace('.data', freeMiB * 1024 ** 2)

    expect(check).toMatchObject({ status, message: expect.stringContaining(' MiB are free for .data') })
    if (status !== 'ok') expect(advice).toContain('With 64 MiB or less, writes get 503 STORAGE_FULL')
  })

  it.each([
    [maxBackupAgeHours, 'ok', ''],
    [maxBackupAgeHours + 1, 'warn', `more than ${maxBackupAgeHours} hours ago`],
    [-1, 'warn', 'in the future'],
  ])('of a backup that is %i hours old: %s', (hours, status, problem) => {
    const createTime = '2026-11-20T02:30:00.000Z'
    const now = new Date(Date.parse(createTime) + hours * 3_600_000)

    const check = backupCheck({ createTime, folder: '/backups/one' }, now)

    expect(check.status).toBe(status)
    expect(check.message).toContain(problem)
  })

  it.each([
    [[], undefined, 'ok', /^is not set/],
    [[], 0, 'ok', /^is not set/],
    [['10.0.0.0/8', '2001:db8::1'], 0, 'ok', /^trusts 10\.0\.0\.0\/8, 2001:db8::1$/],
    [['10.0.0.1'], 7, 'warn', /ignored X-Forwarded-For in 7 requests/],
    [['10.0.0.1', '0.0.0.0/0'], undefined, 'warn', /whoever connects from 0\.0\.0\.0\/0 chooses the address/],
    [['::/0'], undefined, 'warn', /whoever connects from ::\/0/],
  ] as const)('of the proxies %j with %s ignored requests: %s', (proxies, untrusted, status, message) => {
    const check = checkTrustProxy([...proxies], untrusted)

    expect(check).toMatchObject({ status, message: expect.stringMatching(message) })
    expect(check.advice !== undefined).toBe(status !== 'ok')
  })

  it.each([
    [[], 'ok', /^is not set/],
    [['https://app.example.com', 'http://localhost:5173', 'http://127.0.0.1:8081'], 'ok', /^allows https/],
    ['*', 'warn', /every origin/],
    [['http://app.example.com'], 'warn', /over http can be changed/],
  ] as const)('of the CORS origins %j: %s', (origins, status, message) => {
    const check = checkCorsOrigins(origins === '*' ? origins : [...origins])

    expect(check).toMatchObject({ status, message: expect.stringMatching(message) })
    if (Array.isArray(origins) && status === 'warn') expect(check.advice).toContain('https://app.example.com')
  })

  it.each([
    ['2.14.0', 'ok'],
    ['2.12.1', 'ok'],
    ['3.0.0', 'ok'],
    ['2.9.25', 'warn'],
    ['2.11.4', 'warn'],
  ])('of nats-server %s: %s', (version, status) => {
    expect(checkNatsVersion(version)).toMatchObject({ status, message: expect.stringContaining(version) })
  })

  it.each([
    [3 * 1024 ** 2, -1, 'ok', 'streams have 3 MiB; the disk is the limit'],
    [3 * 1024 ** 2, 4 * 1024 ** 2, 'ok', 'streams have 3 MiB of 4 MiB'],
    [4 * 1024 ** 2, 4 * 1024 ** 2, 'warn', 'streams have 4 MiB of 4 MiB'],
  ])('of NATS with %i bytes of %i: %s', (bytes, limit, status, message) => {
    expect(checkNatsRoom(bytes, limit)).toMatchObject({ status, message })
  })

  it.each([
    [{ pending: 0, unstreamed: 0 }, 'ok'],
    [{ pending: 2, unstreamed: 3, oldestTime: new Date(40_000) }, 'ok'],
    [{ pending: 2, unstreamed: 3, oldestTime: new Date(39_999) }, 'warn'],
    [{ pending: 2, unstreamed: 0, oldestTime: new Date(0) }, 'warn'],
    // Changed meanwhile, or by a machine whose clock is ahead.
    [{ pending: 0, unstreamed: 1 }, 'ok'],
    [{ pending: 0, unstreamed: 1, oldestTime: new Date(200_000) }, 'ok'],
  ])('of the relay with %j: %s', (backlog, status) => {
    expect(relayCheck(backlog, new Date(100_000)).status).toBe(status)
  })

  it('of revisions names at most five forms', () => {
    const form = (index: number) => ({
      organizationId: 'o',
      formId: 'f',
      publicId: `form-${index}`,
      revisions: index === 2 ? 100_000 : 10_001,
    })

    expect(revisionsCheck([])).toEqual({
      check: 'revisions',
      status: 'ok',
      message: 'no form has more than 10,000',
    })
    expect(revisionsCheck([form(1), form(2)])).toMatchObject({
      status: 'warn',
      message:
        'forms have more than 10,000: form-1 of organization o (10,001); form-2 of organization o (100,000 or more)',
      advice: expect.stringContaining('formctl revisions prune'),
    })
    const { message } = revisionsCheck([1, 2, 3, 4, 5, 6].map(form))
    expect(message).toMatch(/^many forms have more than 10,000: /)
    expect(message).not.toContain('form-6')
  })

  it.each([
    [0, 'ok'],
    [-900, 'ok'],
    [5_000, 'warn'],
    [-60_000, 'fail'],
  ])('of a clock that differs by %i ms: %s', (offByMs, status) => {
    const now = Date.now()

    expect(checkClock('a server', new Date(now + offByMs), now, now).status).toBe(status)
  })
})
