import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FormDraft } from '@fms/contracts'
import { API_KEY_PATTERN, hashApiKey, openDirectoryStore } from '@fms/directory-store'
import { makePublicId, openFormsStore, toStoredDraft } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newRecord } from './copy/testing.ts'

const entry = fileURLToPath(import.meta.resolve('./formctl.ts'))
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
})

afterEach(() => rmSync(dataDir, { recursive: true }))

/** Runs formctl as its users do: a process of its own, in a directory of its own. */
const formctlWith = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  new Promise<Outcome>((resolve) => {
    const { PATH } = process.env
    const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
    const child = execFile(
      process.execPath,
      [entry, ...args],
      { cwd: dataDir, env: { PATH, NODE_COMPILE_CACHE, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })

const formctl = (...args: string[]) => formctlWith({ DATA_DIR: dataDir }, ...args)

/** The JSON object of a command that has to succeed. */
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

const expectRefused = (outcome: Outcome, message: string | RegExp) => {
  expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
  expect(outcome.stderr).not.toMatch(/\n\s+at /)
}

describe('formctl user create', () => {
  it('prints the id of the new user', async () => {
    const { id } = await givenUser()

    await using directory = await openDirectory()
    expect(await directory.findUser('ada@example.com')).toMatchObject({ userId: id })
  })

  it('refuses an address that is taken or is none, in one line that says what to do', async () => {
    await givenUser()

    expectRefused(
      await formctl('user', 'create', '--email', 'ada@example.com'),
      /^error: .*another address\.\n$/,
    )
    expectRefused(
      await formctl('user', 'create', '--email', 'ada'),
      'error: email must be an e-mail address\n',
    )
  })
})

describe('formctl organization create', () => {
  it('keeps name, slug, logo and metadata', async () => {
    const fields = { name: '-Acme-', slug: 'acme', logo: 'https://acme.example/logo.png' }
    const args = Object.entries(fields).flatMap(([name, value]) => [`--${name}`, value])

    const { id } = await given('organization', 'create', ...args, '--metadata', '{"plan":["pro",-5]}')

    await using directory = await openDirectory()
    expect(await directory.findOrganization(id)).toMatchObject({ ...fields, metadata: { plan: ['pro', -5] } })
  })

  it('refuses what an organization may not have', async () => {
    const outcome = await formctl('organization', 'create', '--name', '', '--slug', 'new')

    expectRefused(outcome, /name must .*\nslug must not be one of/)
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
    return Buffer.byteLength(JSON.stringify(draft))
  }

  it('tells what an organization has and may have, by slug and by id', async () => {
    const { id } = await givenOrganization()
    const bytes = await givenForms(id)

    for (const ref of ['acme', id]) {
      expect(await given('organization', 'show', '--organization', ref)).toMatchObject({
        id,
        slug: 'acme',
        name: 'Acme',
        usage: { forms: 1, bytes },
        quota: { forms: 100_000, bytes: 10_737_418_240 },
      })
    }
    const env = { DATA_DIR: dataDir, MAX_FORMS_PER_ORGANIZATION: '7', MAX_BYTES_PER_ORGANIZATION: '0' }
    const { stdout } = await formctlWith(env, 'organization', 'show', '--organization', 'acme')
    expect(stdout).toContain(`forms: 1 of 7\nbytes: ${bytes}, no limit\n`)
  })

  it('refuses an organization that is not there', async () => {
    const outcome = await formctl('organization', 'show', '--organization', 'missing')

    expectRefused(outcome, 'There is no organization missing')
  })
})

describe('formctl organization update', () => {
  it('changes what is named, and removes what is empty or null', async () => {
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

  it('refuses an organization that is not there, and a slug that is taken', async () => {
    await givenOrganization()
    await given('organization', 'create', '--name', 'Looms', '--slug', 'looms')

    const missing = await formctl('organization', 'update', '--organization', 'missing', '--name', 'A')
    expectRefused(missing, 'There is no organization missing')
    const taken = await formctl('organization', 'update', '--organization', 'acme', '--slug', 'looms')
    expectRefused(taken, 'slug looms exists already')
  })
})

describe('formctl organization delete', () => {
  it('takes members and forms along, and leaves those of others', async () => {
    await givenMember()
    const other = await given('organization', 'create', '--name', 'Looms', '--slug', 'looms')
    const { id } = (await given('organization', 'list')).organizations[0]
    const store = `sqlite:${join(dataDir, 'forms.db')}`
    await using forms = await openFormsStore(store)
    const records = Array.from({ length: 230 }, () =>
      newRecord({ organizationId: id, revisions: 1, replies: 2 }),
    )
    const kept = newRecord({ organizationId: other.id })
    await Promise.all([...records, kept].map((record) => forms.importForm(record)))

    expect(await given('organization', 'delete', '--organization', 'acme', '--yes')).toEqual({
      id,
      members: 1,
      forms: 230,
    })

    expect(await Array.fromAsync(forms.organizations())).toEqual([{ organizationId: other.id, forms: 1 }])
    expect(await Array.fromAsync(forms.exportForms(other.id))).toEqual([kept])
    expect(await given('organization', 'list')).toMatchObject({ organizations: [{ slug: 'looms' }] })
    expect(await given('user', 'list')).toMatchObject({ users: [{ email: 'ada@example.com' }] })
  })
})

describe('formctl user disable', () => {
  it('is told in the lists until the user is enabled', async () => {
    const { id } = await givenUser()
    await given('key', 'create', '--user', id)

    const { disableTime } = await given('user', 'disable', '--user', 'ada@example.com')
    expect(await given('user', 'list')).toMatchObject({ users: [{ id, disableTime }] })
    await given('user', 'enable', '--user', id)

    expect((await given('user', 'list')).users[0]).not.toHaveProperty('disableTime')
    expectRefused(await formctl('user', 'disable', '--user', 'nobody'), 'There is no user nobody')
  })
})

describe('formctl member', () => {
  const role = async () => {
    await using directory = await openDirectory()
    const { userId } = (await directory.findUser('ada@example.com'))!
    const { key } = await directory.createKey({ userId })
    const request = { keyHash: hashApiKey(key), organizationRef: 'acme' }
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

  it('takes ids as well', async () => {
    const [user, organization] = [await givenUser(), await givenOrganization()]

    await given('member', 'add', '--organization', organization.id, '--user', user.id, '--role', 'owner')

    expect(await role()).toBe('owner')
  })

  it('refuses whom and what it does not find', async () => {
    await givenMember()

    const missing = ['--organization', 'missing', '--user', 'ada@example.com']
    expectRefused(await formctl('member', 'add', ...missing), 'There is no organization missing')
    const nobody = ['--organization', 'acme', '--user', 'nobody']
    expectRefused(await formctl('member', 'remove', ...nobody), 'There is no user nobody')
    expectRefused(await formctl('member', 'add', ...acmeAndAda), "Set the member's role instead")
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

  it('tells people that they see the key for the only time', async () => {
    await givenUser()

    const { code, stdout } = await formctl('key', 'create', '--user', 'ada@example.com')

    expect(code).toBe(0)
    const [key, remark] = stdout.split('\n')
    expect(key).toMatch(API_KEY_PATTERN)
    expect(remark).toContain('the only time')
    expect((await formctl('key', 'list')).stdout).not.toContain(key)
  })

  it('changes the name, the end and the rights of a key', async () => {
    await givenUser()
    const { id } = await given('key', 'create', '--user', 'ada@example.com')

    const options = ['--name', 'nightly', '--read-only', '--expires', '2126-11-20T09:30:00Z']
    expect(await given('key', 'update', id, ...options)).toEqual({ id })

    const expireTime = '2126-11-20T09:30:00.000Z'
    expect((await given('key', 'list')).keys).toMatchObject([{ name: 'nightly', readOnly: true, expireTime }])
    await given('key', 'revoke', id)
    expectRefused(await formctl('key', 'update', id, '--name', 'again'), 'revoked or expired already')
  })

  it('refuses to revoke a key that is not there', async () => {
    expectRefused(await formctl('key', 'revoke', 'nonsense'), 'There is no API key with the id nonsense')
  })
})

describe('formctl', () => {
  it('takes --json before the command, between its words and after it', async () => {
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
    ['key', 'revoke'],
    ['key', 'update', 'id'],
    ['organization', 'update', '--organization', 'acme'],
    ['backup'],
    ['restore'],
  ])('exits with 2 for the wrong usage %j', async (...args) => {
    const { code, stdout, stderr } = await formctl(...args, '--json')

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toBe('')
  })

  it('stores null for the metadata null', async () => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme', '--metadata', 'null')

    expect((await given('organization', 'list')).organizations).toMatchObject([{ metadata: null }])
  })

  it('tells its version', async () => {
    const { code, stdout } = await formctl('--version')

    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  it.each([
    ['directory', 'DIRECTORY_STORE_URL', ['user', 'list']],
    ['directory', 'DIRECTORY_STORE_URL', ['migrate']],
    ['forms', 'FORMS_STORE_URL', ['forms', 'export']],
    ['forms', 'FORMS_STORE_URL', ['migrate']],
  ])('names the %s store and %s where it cannot be reached by %j', async (store, variable, args) => {
    // Nothing listens on port 1.
    const env = { DATA_DIR: dataDir, [variable]: 'mongodb://ada:secret@127.0.0.1:1/db' }

    const outcome = await formctlWith(env, ...args)

    expectRefused(
      outcome,
      new RegExp(
        `^error: The ${store} store at mongodb://127.0.0.1:1/db cannot be reached .*Check ${variable}`,
      ),
    )
    expect(outcome.stderr).not.toContain('secret')
  })

  it('explains itself', async () => {
    const { code, stdout } = await formctl('key', 'create', '--help')

    expect(code).toBe(0)
    for (const option of ['--user', '--name', '--expires', '--read-only', '--json']) {
      expect(stdout).toContain(option)
    }
  })

  it('keeps the directory in .data where the environment says nothing', async () => {
    await formctlWith({ DATA_DIR: '' }, 'user', 'create', '--email', 'ada@example.com')

    await using directory = await openDirectoryStore(`sqlite:${join(dataDir, '.data', 'directory.db')}`)
    expect(await directory.findUser('ada@example.com')).toBeDefined()
  })

  it('prefers DIRECTORY_STORE_URL, and says which URLs there are without telling a password', async () => {
    const env = { DATA_DIR: dataDir, DIRECTORY_STORE_URL: 'nonsense://user:secret@host' }
    const outcome = await formctlWith(env, 'key', 'list')

    expectRefused(outcome, 'nonsense:')
    expect(outcome.stderr).not.toContain('secret')
  })

  it('refuses a password of .env.example by the name of its variable', async () => {
    const url = 'mongodb://formctl:sample@127.0.0.1:1/directory'
    const outcome = await formctlWith({ DATA_DIR: dataDir, DIRECTORY_STORE_URL: url }, 'key', 'list')

    expectRefused(outcome, /^error: DIRECTORY_STORE_URL is a sample of \.env\.example, .*\n$/)
  })

  it('fails in one line where the store cannot be opened', async () => {
    const file = join(dataDir, 'file')
    writeFileSync(file, '')

    expectRefused(
      await formctlWith({ DATA_DIR: file }, 'key', 'list'),
      /^error: .*Check DIRECTORY_STORE_URL.*\n$/,
    )
  })

  it('works while a service has the directory open, which sees the change at once', async () => {
    await using directory = await openDirectory()
    await directory.createUser({ email: 'grace@example.com' })

    await givenUser()

    expect(await directory.findUser('ada@example.com')).toBeDefined()
  })
})
