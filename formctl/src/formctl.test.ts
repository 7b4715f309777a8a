import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { FormDraft } from '@fms/contracts'
import { API_KEY_PATTERN, hashSecret, migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { makePublicId, migrateFormsStore, openFormsStore, toStoredDraft } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newFormRecord } from './testing/form-record.ts'
import { runFormctlWith } from './testing/run-formctl.ts'

const entry = fileURLToPath(import.meta.resolve('./formctl.ts'))
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

let dataDir: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  await migrateDirectoryStore(`sqlite:${join(dataDir, 'directory.db')}`)
  await migrateFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)
})

afterEach(() => rmSync(dataDir, { recursive: true }))

/** Runs formctl in a separate process, in the folder of the test. */
const formctlProcess = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  new Promise<Outcome>((resolve) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = execFile(
      process.execPath,
      [entry, ...args],
      { cwd: dataDir, env: { PATH, NODE_COMPILE_CACHE, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })

/** Runs formctl in this process. */
const formctlWith = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> => {
  const { prompts, ...outcome } = await runFormctlWith(
    { DIRECTORY_STORE_URL: '', FORMS_STORE_URL: '', ...env },
    args,
  )
  return outcome
}

const formctl = (...args: string[]) => formctlWith({ DATA_DIR: dataDir }, ...args)

/** Runs a command that must succeed. @returns its JSON. */
const given = async (...args: string[]) => {
  const { code, stdout, stderr } = await formctl(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const openDirectory = () => openDirectoryStore(`sqlite:${join(dataDir, 'directory.db')}`)

const givenUser = () => given('user', 'create', '--email', 'ada@example.com')
const givenOrganization = () => given('organization', 'create', '--name', 'Acme', '--slug', 'acme')

const acmeAndAda = ['--organization', 'acme', '--user', 'ada@example.com']
const givenMember = async () => {
  await givenUser()
  await givenOrganization()
  expect(await given('member', 'add', ...acmeAndAda)).toEqual({})
}

const expectFailure = (outcome: Outcome, message: string | RegExp) => {
  expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
  expect(outcome.stderr).not.toMatch(/\n\s+at /)
}

it('ends although a server accepts its connection and then hangs', async () => {
  const connections = new Set<Socket>()
  await using server = createServer((socket) => connections.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const { code, stdout } = await formctlProcess(
    { DATA_DIR: dataDir, NATS_URL: `nats://127.0.0.1:${port}` },
    'doctor',
  )

  expect(stdout).toContain('formctl cannot connect: timeout')
  expect(stdout).toContain('The server does not respond: restart it.')
  expect(code).toBe(1)
  for (const socket of connections) socket.destroy()
})

it('prints everything to a reader that is slow', async () => {
  const metadata = 'x'.repeat(500_000)
  {
    await using directory = await openDirectory()
    await directory.createOrganization({ name: 'Acme', slug: 'acme', metadata })
  }
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir }
  const child = spawn(process.execPath, [entry, 'organization', 'list', '--json'], { env })
  await once(child.stdout, 'readable')
  await delay(1_000)

  expect((await text(child.stdout)).length).toBeGreaterThan(metadata.length)
})

it.runIf(existsSync('/dev/full'))('says that its output could not be written on a full disk', async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  await using full = await open('/dev/full', 'w')
  const child = spawn(process.execPath, [entry, 'user', 'create', '--email', 'ada@example.com'], {
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir },
    stdio: ['ignore', full.fd, 'pipe'],
  })

  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])

  expect(stderr).toMatch(
    /^error: The output could not be written \(ENOSPC.+\)\. Changes may have been made\.\n$/,
  )
  expect(code).toBe(1)
})

it.each([
  [0, ['--version'], /^\d+\.\d+\.\d+\n$/, /^$/],
  [1, ['user', 'disable', '--user', 'nobody'], /^$/, /^error: There is no user nobody.*\n$/],
  [2, ['nonsense'], /^$/, /^error: unknown command 'nonsense'\n/],
])('is a process that exits with %d for %j', async (code, args, stdout, stderr) => {
  expect(await formctlProcess({ DATA_DIR: dataDir }, ...args)).toEqual({
    code,
    stdout: expect.stringMatching(stdout),
    stderr: expect.stringMatching(stderr),
  })
})

describe('formctl user create', () => {
  it('prints the id of the new user', async () => {
    const { id } = await givenUser()

    await using directory = await openDirectory()
    expect(await directory.findUser('ada@example.com')).toMatchObject({ userId: id })
  })

  it('rejects a taken or invalid address with one line that says what to do', async () => {
    await givenUser()

    expectFailure(
      await formctl('user', 'create', '--email', 'ada@example.com'),
      /^error: .*another address\.\n$/,
    )
    expectFailure(
      await formctl('user', 'create', '--email', 'ada'),
      'error: email must be an e-mail address\n',
    )
  })
})

describe('formctl organization create', () => {
  it('stores name, slug, logo and metadata', async () => {
    const fields = { name: '-Acme-', slug: 'acme', logo: 'https://acme.example/logo.png' }
    const args = Object.entries(fields).flatMap(([name, value]) => [`--${name}`, value])

    const { id } = await given('organization', 'create', ...args, '--metadata', '{"plan":["pro",-5]}')

    await using directory = await openDirectory()
    expect(await directory.findOrganization(id)).toMatchObject({ ...fields, metadata: { plan: ['pro', -5] } })
  })

  it('rejects invalid fields', async () => {
    const outcome = await formctl('organization', 'create', '--name', '', '--slug', 'new')

    expectFailure(outcome, /name must .*\nslug must not be one of/)
  })
})

describe('formctl organization show', () => {
  const givenForms = async (organizationId: string) => {
    await using forms = await openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)
    const draft = FormDraft.parse({ name: 'Größe' })
    const time = new Date()
    const ids = { organizationId, formId: randomUUID(), publicId: makePublicId() }
    const state = { createTime: time, updateTime: time, version: 1, replyCount: 0, live: false }
    await forms.create({ ...ids, ...state, ...toStoredDraft(draft) })
    const events = await forms.events.read({ organizationId, limit: 10 })
    return [draft, ...events].reduce((sum, json) => sum + Buffer.byteLength(JSON.stringify(json)), 0)
  }

  it('shows usage and quota, by slug and by id', async () => {
    const { id } = await givenOrganization()
    const bytes = await givenForms(id)

    for (const ref of ['acme', id]) {
      expect(await given('organization', 'show', '--organization', ref)).toMatchObject({
        id,
        slug: 'acme',
        name: 'Acme',
        usage: { forms: 1, bytes },
        deletedForms: 0,
        quota: { forms: 100_000, bytes: 10_737_418_240 },
      })
    }
    const env = { DATA_DIR: dataDir, MAX_FORMS_PER_ORGANIZATION: '7', MAX_BYTES_PER_ORGANIZATION: '0' }
    const { stdout } = await formctlWith(env, 'organization', 'show', '--organization', 'acme')
    expect(stdout).toContain(
      `forms: 1 of 7\ndeleted forms: 0\nbytes of drafts, revisions and events: ${bytes}, no limit\n`,
    )
  })

  it('rejects an unknown organization', async () => {
    const outcome = await formctl('organization', 'show', '--organization', 'missing')

    expectFailure(outcome, 'There is no organization missing')
  })
})

describe('formctl organization update', () => {
  it('changes the given fields, and removes those that are empty or null', async () => {
    const logo = 'https://acme.example/logo.png'
    const { id } = await given(
      ...[
        'organization',
        'create',
        '--name',
        'Acme',
        '--slug',
        'acme',
        '--logo',
        logo,
        '--metadata',
        '{"a":1}',
      ],
    )

    await given('organization', 'update', '--organization', 'acme', '--name', 'Looms', '--slug', 'looms')
    expect((await given('organization', 'list')).organizations).toEqual([
      { id, name: 'Looms', slug: 'looms', logo, metadata: { a: 1 }, createTime: expect.any(String) },
    ])
    await given('organization', 'update', '--organization', id, '--logo', '', '--metadata', 'null')
    expect((await given('organization', 'list')).organizations).toMatchObject([
      { logo: null, metadata: null },
    ])
  })

  it('rejects an unknown organization, and a taken slug', async () => {
    await givenOrganization()
    await given('organization', 'create', '--name', 'Looms', '--slug', 'looms')

    const missing = await formctl('organization', 'update', '--organization', 'missing', '--name', 'A')
    expectFailure(missing, 'There is no organization missing')
    const taken = await formctl('organization', 'update', '--organization', 'acme', '--slug', 'looms')
    expectFailure(taken, 'slug looms exists already')
  })
})

describe('formctl organization delete', () => {
  it('deletes its members and forms, and not those of other organizations', async () => {
    await givenMember()
    const other = await given('organization', 'create', '--name', 'Looms', '--slug', 'looms')
    const { id } = (await given('organization', 'list')).organizations[0]
    const store = `sqlite:${join(dataDir, 'forms.db')}`
    await using forms = await openFormsStore(store)
    const records = Array.from({ length: 230 }, () =>
      newFormRecord({ organizationId: id, revisions: 1, replies: 2 }),
    )
    const deleted = newFormRecord({ organizationId: id, revisions: 1, isDeleted: true })
    const kept = newFormRecord({ organizationId: other.id })
    await Promise.all([...records, deleted, kept].map((record) => forms.importForm(record)))

    expect(await given('organization', 'delete', '--organization', 'acme', '--yes')).toEqual({
      id,
      members: 1,
      forms: 230,
    })

    expect(await Array.fromAsync(forms.organizations())).toEqual([{ organizationId: other.id, forms: 1 }])
    expect(await Array.fromAsync(forms.exportForms(other.id))).toEqual([kept])
    expect(await Array.fromAsync(forms.exportForms(id))).toEqual([])
    expect(await given('organization', 'list')).toMatchObject({ organizations: [{ slug: 'looms' }] })
    expect(await given('user', 'list')).toMatchObject({ users: [{ email: 'ada@example.com' }] })
  })
})

describe('formctl user disable', () => {
  it('is visible in the lists until the user is enabled', async () => {
    const { id } = await givenUser()
    await given('key', 'create', '--user', id)

    const { disableTime } = await given('user', 'disable', '--user', 'ada@example.com')
    expect(await given('user', 'list')).toMatchObject({ users: [{ id, disableTime }] })
    await given('user', 'enable', '--user', id)

    expect((await given('user', 'list')).users[0]).not.toHaveProperty('disableTime')
    expectFailure(await formctl('user', 'disable', '--user', 'nobody'), 'There is no user nobody')
  })
})

describe('formctl member', () => {
  const role = async () => {
    await using directory = await openDirectory()
    const { userId } = (await directory.findUser('ada@example.com'))!
    const { key } = await directory.createKey({ userId })
    const request = { keyHash: hashSecret(key), organizationRef: 'acme' }
    return (await directory.authorize(request, new Date()))?.organization?.role
  }

  it('adds editors, sets roles and removes members', async () => {
    await givenMember()
    expect(await role()).toBe('editor')

    expect(await given('member', 'set', ...acmeAndAda, '--role', 'viewer')).toEqual({})
    expect(await role()).toBe('viewer')

    expect(await given('member', 'remove', ...acmeAndAda)).toEqual({})
    expect(await role()).toBeUndefined()
  })

  it('accepts ids', async () => {
    const [user, organization] = [await givenUser(), await givenOrganization()]

    await given('member', 'add', '--organization', organization.id, '--user', user.id, '--role', 'owner')

    expect(await role()).toBe('owner')
  })

  it('rejects unknown users, organizations and members', async () => {
    await givenMember()

    const missing = ['--organization', 'missing', '--user', 'ada@example.com']
    expectFailure(await formctl('member', 'add', ...missing), 'There is no organization missing')
    const nobody = ['--organization', 'acme', '--user', 'nobody']
    expectFailure(await formctl('member', 'remove', ...nobody), 'There is no user nobody')
    expectFailure(await formctl('member', 'add', ...acmeAndAda), "Set the member's role instead")
  })
})

describe('formctl key', () => {
  it('shows a new key once, and lists and revokes it by its id', async () => {
    const { id: userId } = await givenUser()
    const options = ['--name', 'CI', '--expires', '2126-11-20T11:30:00+02:00', '--read-only']

    const { id, key } = await given('key', 'create', '--user', userId, ...options)

    expect({ id, key }).toEqual({ id: uuid, key: expect.stringMatching(API_KEY_PATTERN) })
    const listed = {
      id,
      prefix: key.slice(4, 12),
      userId,
      name: 'CI',
      readOnly: true,
      createTime: expect.stringMatching(/Z$/),
      expireTime: '2126-11-20T09:30:00.000Z',
    }
    expect(await given('key', 'list')).toEqual({ keys: [listed] })
    expect(await given('key', 'revoke', id)).toEqual({ id })
    expect(await given('key', 'list')).toEqual({ keys: [{ ...listed, revokeTime: expect.any(String) }] })
  })

  it('says that the key is shown only once', async () => {
    await givenUser()

    const { code, stdout } = await formctl('key', 'create', '--user', 'ada@example.com')

    expect(code).toBe(0)
    const [key, remark] = stdout.split('\n')
    expect(key).toMatch(API_KEY_PATTERN)
    expect(remark).toContain('the only time')
    expect((await formctl('key', 'list')).stdout).not.toContain(key)
  })

  it('changes the name, the expiry and the rights of a key', async () => {
    await givenUser()
    const { id } = await given('key', 'create', '--user', 'ada@example.com')

    const options = ['--name', 'nightly', '--read-only', '--expires', '2126-11-20T09:30:00Z']
    expect(await given('key', 'update', id, ...options)).toEqual({ id })

    const expireTime = '2126-11-20T09:30:00.000Z'
    expect((await given('key', 'list')).keys).toMatchObject([{ name: 'nightly', readOnly: true, expireTime }])
    await given('key', 'revoke', id)
    expectFailure(await formctl('key', 'update', id, '--name', 'again'), 'revoked or expired already')
  })

  it('rejects an unknown key', async () => {
    expectFailure(await formctl('key', 'revoke', 'nonsense'), 'There is no API key with the id nonsense')
  })
})

describe('formctl', () => {
  it('accepts --json before the command, between its words and after it', async () => {
    for (const args of [
      ['--json', 'key', 'list'],
      ['key', '--json', 'list'],
      ['key', 'list', '--json'],
    ]) {
      expect(await formctl(...args)).toEqual({ code: 0, stdout: '{"keys":[]}\n', stderr: '' })
    }
  })

  it.each([
    [],
    ['nonsense'],
    ['user'],
    ['user', 'nonsense'],
    ['user', 'create'],
    ['user', 'create', '--email'],
    ['user', 'create', '--email', 'ada@example.com', '--nonsense'],
    ['user', 'create', '--email', 'ada@example.com', 'surplus'],
    ['organization', 'create', '--name', 'Acme', '--slug', 'acme', '--metadata', '{'],
    ['member', 'add', ...acmeAndAda, '--role', 'boss'],
    ['member', 'remove', '--organization', 'acme'],
    ['key', 'create', '--user', 'ada@example.com', '--expires', 'tomorrow'],
    ['key', 'create', '--user', 'ada@example.com', '--expires', '2026-02-30T00:00:00Z'],
    ['key', 'create', '--user', 'ada@example.com', '--expires', '2026-11-20'],
    ['key', 'create', '--user', 'ada@example.com', '--expires', '2001-11-20T09:30:00Z'],
    ['key', 'rotate', 'id', '--expires', '2001-11-20T09:30:00Z'],
    ['key', 'create', '--user', 'ada@example.com', '--expires', '9999-12-31T23:59:59-23:00'],
    ['key', 'revoke'],
    ['key', 'update', 'id'],
    ['organization', 'update', '--organization', 'acme'],
    ['backup'],
    ['restore'],
  ])('exits with 2 for the invalid usage %j', async (...args) => {
    const { code, stdout, stderr } = await formctl(...args, '--json')

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toBe('')
  })

  it('stores null for the metadata null', async () => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme', '--metadata', 'null')

    expect((await given('organization', 'list')).organizations).toMatchObject([{ metadata: null }])
  })

  it.each([
    ['directory', 'DIRECTORY_STORE_URL', ['user', 'list']],
    ['directory', 'DIRECTORY_STORE_URL', ['migrate']],
    ['forms', 'FORMS_STORE_URL', ['forms', 'export']],
    ['forms', 'FORMS_STORE_URL', ['migrate']],
  ])('names the unreachable %s store and %s for %j', async (store, variable, args) => {
    // Nothing listens on port 1.
    const env = { DATA_DIR: dataDir, [variable]: 'mongodb://ada:secret@127.0.0.1:1/db' }

    const outcome = await formctlWith(env, ...args)

    expectFailure(
      outcome,
      new RegExp(
        `^error: The ${store} store at mongodb://127.0.0.1:1/db cannot be reached .*Check ${variable}`,
      ),
    )
    expect(outcome.stderr).not.toContain('secret')
  })

  it('lists the options of a command with --help', async () => {
    const { code, stdout } = await formctl('key', 'create', '--help')

    expect(code).toBe(0)
    for (const option of ['--user', '--name', '--expires', '--read-only', '--json']) {
      expect(stdout).toContain(option)
    }
  })

  it('stores the directory in .data by default', async () => {
    await formctlWith({ DATA_DIR: join(dataDir, '.data') }, 'migrate')
    await formctlProcess({ DATA_DIR: '' }, 'user', 'create', '--email', 'ada@example.com')

    await using directory = await openDirectoryStore(`sqlite:${join(dataDir, '.data', 'directory.db')}`)
    expect(await directory.findUser('ada@example.com')).toBeDefined()
  })

  it('rejects an invalid DIRECTORY_STORE_URL without printing its password', async () => {
    const env = { DATA_DIR: dataDir, DIRECTORY_STORE_URL: 'nonsense://user:secret@host' }
    const outcome = await formctlWith(env, 'key', 'list')

    expectFailure(outcome, 'nonsense:')
    expect(outcome.stderr).not.toContain('secret')
  })

  it.each([['user', 'create', '--email', 'ada@example.com'], ['migrate']])(
    'rejects a store URL without a path, in which nothing would stay: %s',
    async (...args) => {
      const env = { DATA_DIR: dataDir, DIRECTORY_STORE_URL: 'sqlite:' }

      expectFailure(await formctlWith(env, ...args), 'Use sqlite:PATH or mongodb:')
    },
  )

  it('rejects a password of .env.example, naming the variable', async () => {
    const url = 'mongodb://formctl:sample@127.0.0.1:1/directory'
    const outcome = await formctlWith({ DATA_DIR: dataDir, DIRECTORY_STORE_URL: url }, 'key', 'list')

    expectFailure(outcome, /^error: DIRECTORY_STORE_URL is a sample of \.env\.example, .*\n$/)
  })

  it('prints one line if the store cannot be opened, with its file', async () => {
    const file = join(dataDir, 'file')
    writeFileSync(file, 'no database')

    expectFailure(
      await formctlWith({ DIRECTORY_STORE_URL: `sqlite:${file}` }, 'key', 'list'),
      /^error: The directory store at \/.*\/file cannot be opened. Check DIRECTORY_STORE_URL.*\n$/,
    )
  })

  it('works while a service has the directory open, and the service sees the change immediately', async () => {
    await using directory = await openDirectory()
    await directory.createUser({ email: 'grace@example.com' })

    await formctlProcess({ DATA_DIR: dataDir }, 'user', 'create', '--email', 'ada@example.com')

    expect(await directory.findUser('ada@example.com')).toBeDefined()
  })
})
