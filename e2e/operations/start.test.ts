import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { migrateDirectoryStore } from '@fms/directory-store'
import { connectNats } from '@fms/service-kit'
import { jetstream } from '@nats-io/jetstream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishable } from '../system.ts'
import { call, npmStart, npmStop, processesOf, readOrEmpty, type Started } from './npm-start.ts'

const root = join(import.meta.dirname, '../..')

describe('a system of npm start', () => {
  let home: string
  let system: Started
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'start-'))
    chmodSync(home, 0o755)
    system = await npmStart(home, { LOG_LEVEL: 'info' })
  })
  afterAll(async () => {
    if (system) await npmStop(system)
    rmSync(home, { recursive: true, force: true })
  })

  const untilAllExited = async () => {
    while (processesOf(home).length > 0) await delay(100)
  }

  it('logs no warning, and prints the URL of a reference page that is served', async () => {
    const [logs, banner] = system.printed.split('\n  Form management is ready') as [string, string]

    const lines = logs
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string })
    expect(lines.filter(({ level }) => level > 30)).toEqual([])
    expect(lines.filter(({ msg }) => msg === 'ready')).toHaveLength(4)
    expect(banner).not.toContain('{')
    expect((await fetch(system.referencePage)).status).toBe(200)
    expect(system.referencePage).toBe(`${system.baseUrl}/docs`)
  })

  it('prints a working curl command, and the demo works', async () => {
    const { curl } = system

    const response = JSON.parse(execFileSync('sh', ['-c', `${curl} --silent`], { encoding: 'utf8' }))
    const demo = execFileSync(process.execPath, [join(root, 'scripts/demo.ts')], {
      env: { ...process.env, DATA_DIR: home },
      encoding: 'utf8',
    })

    expect(response).toEqual({ nextPageToken: '', totalSize: 0, forms: [] })
    expect(demo).toContain('Done: create, edit, publish, read, list and delete all worked.')
  })

  it('prints the URL of NATS for readers, who get the events of the demo', async () => {
    const { natsForReaders } = system
    const env = { ...process.env, DATA_DIR: home }
    execFileSync(process.execPath, [join(root, 'scripts/demo.ts')], { env })
    const nats = await connectNats(natsForReaders, 'reader')

    const consumer = await jetstream(nats).consumers.get('EVENTS', {})
    const verbs: string[] = []
    for await (const { subject } of await consumer.consume()) {
      const [, , , verb] = subject.split('.')
      verbs.push(verb!)
      if (verb === 'deleted') break
    }

    expect(verbs).toEqual(expect.arrayContaining(['created', 'updated', 'published', 'deleted']))
    await nats.close()
  })

  it('has a link that signs in as the demo user, once', async () => {
    const { consoleLink, baseUrl, slug } = system
    const [page, code] = consoleLink.split('#code=')
    const signIn = () => call(system, 'POST', '/sessions', { code })

    const session = await signIn()
    const whoami = await call({ ...system, apiKey: session.body.secret }, 'GET', '/whoami')

    expect(page).toBe(`${baseUrl}/console`)
    expect(whoami.body).toMatchObject({
      user: { email: 'demo@example.com' },
      key: { name: 'Console' },
      memberships: [{ organization: { slug }, role: 'owner' }],
    })
    expect((await signIn()).status).toBe(401)
  })

  it('creates files that only their owner can read, also in a world-readable DATA_DIR', () => {
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    const isOpen = (file: string) => (statSync(join(home, file)).mode & 0o077) !== 0
    expect(files).toContain('forms.db')
    expect(files.filter(isOpen)).toEqual([])
  })

  it('restarts a service that exits', async () => {
    const [forms] = processesOf(home).filter((pid) =>
      readOrEmpty(`/proc/${pid}/cmdline`).includes('services/forms/src/main.ts'),
    )

    process.kill(forms!, 'SIGKILL')

    const path = `/organizations/${system.slug}/forms`
    while ((await call(system, 'GET', path)).status !== 200) await delay(50)
  })

  it('keeps every acknowledged write and the key when all processes are killed', async () => {
    const { apiKey, slug } = system
    const forms = `/organizations/${slug}/forms`
    const created = await Promise.all(
      // The limit of concurrent requests of one user.
      Array.from({ length: 64 }, (_, index) =>
        call(system, 'POST', forms, { form: publishable({ name: `Form ${index}` }) }),
      ),
    )
    const published = await Promise.all(
      created.slice(0, 50).map(({ body }) => call(system, 'POST', `${forms}/${body.publicId}/publish`)),
    )
    expect(new Set([...created, ...published].map(({ status }) => status))).toEqual(new Set([200]))

    for (const pid of processesOf(home)) process.kill(pid, 'SIGKILL')
    await untilAllExited()
    system = await npmStart(home, { LOG_LEVEL: 'info', LOG_FORMAT: 'pretty' })

    expect(system.apiKey).toBe(apiKey)
    const list = await call(system, 'GET', `${forms}?pageSize=1000&orderBy=createTime`)
    const byPath = new Map(list.body.forms.map((form: { path: string }) => [form.path, form]))
    expect(list.body.totalSize).toBe(64)
    for (const { body } of [...created.slice(50), ...published]) expect(byPath.get(body.path)).toEqual(body)
    for (const { body } of published) {
      const live = await call(system, 'GET', `${forms}/${body.publicId}/revisions/live`)
      expect(live.body.form).toEqual(body)
    }
  })

  it('writes readable log lines with LOG_FORMAT=pretty, one per request', async () => {
    const more = createInterface(system.child.stdout!)[Symbol.asyncIterator]()

    await call(system, 'GET', '/organizations')

    expect(system.printed).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: gateway +ready$/m)
    for (;;) {
      const { value } = await more.next()
      if (/INFO: gateway +GET \/v2\/organizations 200 [\d.]+ ms/.test(value ?? '')) break
    }
  })

  it('leaves no process behind when its supervisor is killed', async () => {
    system.child.kill('SIGKILL')
    await untilAllExited()
  })
})

describe('npm start', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'start-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  it('ends when NATS cannot start, and says where its log is', async () => {
    mkdirSync(join(dataDir, 'nats'))
    writeFileSync(join(dataDir, 'nats/jetstream'), 'no folder')
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    })

    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

    expect(code).toBe(1)
    expect(output).toMatch(/nats died 5 times .* DATA_DIR\/nats\/log says why/)
    expect(readFileSync(join(dataDir, 'nats/log'), 'utf8')).toContain('[FTL]')
  })

  it('names the store that the demo cannot use', async () => {
    await migrateDirectoryStore(`sqlite:${dataDir}/directory.db`)
    using store = new DatabaseSync(join(dataDir, 'directory.db'))
    store.exec('DROP TABLE keys')
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    })

    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

    expect(code).toBe(1)
    expect(output).toMatch(/directory\.db cannot be used\. Check DIRECTORY_STORE_URL, .* no such table/)
  })

  it('names every invalid variable before it starts anything', async () => {
    const invalid = { EVENTS_STREAM_BYTES: '9007199254740993', MAX_REQUESTS: 'many', DEMO: 'yes' }
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir, ...invalid },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

    expect(code).toBe(78)
    expect(output).toMatch(/^npm start: The environment is invalid:$/m)
    for (const name of Object.keys(invalid))
      expect(output.match(new RegExp(`^  ${name} `, 'gm'))).toHaveLength(1)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it.each([
    [
      { FORMS_STORE_URL: `sqlite:${import.meta.filename}` },
      1,
      /start\.test\.ts cannot be used\. Check FORMS_STORE_URL, or DATA_DIR if .* not a database/,
    ],
    [{ HOST: '192.0.2.1' }, 1, /192\.0\.2\.1.* Set HOST to an address of this machine/],
    [
      { DATA_DIR: '/proc/nope' },
      1,
      /DATA_DIR cannot be created or written .* Set DATA_DIR to another folder/,
    ],
    [{ DATA_DIR: '/dev/null' }, 1, /DATA_DIR cannot be created or written .* Set DATA_DIR to another folder/],
    [
      { DATA_DIR: '/dev/null/data' },
      1,
      /DATA_DIR cannot be created or written .* Set DATA_DIR to another folder/,
    ],
    [
      { FORMS_STORE_URL: 'mongodb://forms:secret@127.0.0.1:1/forms' },
      1,
      /store of FORMS_STORE_URL .*ECONNREFUSED/,
    ],
    [{ FORMS_STORE_URL: 'sqlite:' }, 78, /\n {2}FORMS_STORE_URL must be sqlite:PATH or mongodb:/],
  ])('says what to correct with %o', async (env, exitCode, expected) => {
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

    expect(code).toBe(exitCode)
    expect(output).toMatch(expected)
    expect(output).not.toContain('secret')
  })
})
