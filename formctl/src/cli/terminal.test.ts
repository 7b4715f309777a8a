import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runFormctl, type TerminalInput } from '../testing/run-formctl.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DIRECTORY_STORE_URL', '')
  await runFormctl(['migrate'])
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const given = async (...args: string[]) => JSON.parse((await runFormctl([...args, '--json'])).stdout)

const acmeAndAda = ['--organization', 'acme', '--user', 'ada@example.com']

const givenMember = async () => {
  const user = await given('user', 'create', '--email', 'ada@example.com')
  const organization = await given('organization', 'create', '--name', 'Acme', '--slug', 'acme')
  await given('member', 'add', ...acmeAndAda)
  return { user, organization }
}

const givenKey = (...options: string[]) =>
  given('key', 'create', '--user', 'ada@example.com', '--name', 'laptop', ...options)

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
const shortTime = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`

describe('lists', () => {
  const lists = [
    ['user', 'list'],
    ['organization', 'list'],
    ['member', 'list', '--organization', 'acme'],
    ['key', 'list'],
  ]

  it('are one JSON object in a pipe, and with --json on a terminal', async () => {
    const { user, organization } = await givenMember()
    await givenKey()
    const { email, createTime } = { email: 'ada@example.com', createTime: time }

    const printed = []
    for (const list of lists) {
      const inPipe = await runFormctl(list)
      expect(await runFormctl([...list, '--json'], { isOutputTty: true })).toEqual(inPipe)
      printed.push(JSON.parse(inPipe.stdout))
    }

    expect(printed).toEqual([
      { users: [{ id: user.id, email, createTime }] },
      {
        organizations: [
          { id: organization.id, slug: 'acme', name: 'Acme', logo: null, metadata: null, createTime },
        ],
      },
      { members: [{ userId: user.id, email, role: 'editor', createTime }] },
      { keys: [expect.objectContaining({ userId: user.id, name: 'laptop', readOnly: false })] },
    ])
  })

  it('are tables on a terminal', async () => {
    const { user, organization } = await givenMember()
    const { id, key } = await givenKey('--read-only', '--expires', '2126-11-20T09:30:00Z')

    const [users, organizations, members, keys] = await Promise.all(
      lists.map(async (list) => (await runFormctl(list, { isOutputTty: true })).stdout),
    )

    expect(users).toMatch(
      new RegExp(`^ID +EMAIL +CREATED +DISABLED\n${user.id}  ada@example\\.com  ${shortTime}\n$`),
    )
    expect(organizations).toMatch(
      new RegExp(`^ID +SLUG +NAME +CREATED\n${organization.id}  acme  Acme  ${shortTime}\n$`),
    )
    expect(members).toMatch(
      new RegExp(`^USER +EMAIL +ROLE +SINCE\n${user.id}  ada@example\\.com  editor  ${shortTime}\n$`),
    )
    const [head, row] = keys!.split('\n')
    expect(head).toMatch(/^ID +KEY +USER +NAME +STATE +CREATED +LAST USED$/)
    const state = 'reads until 2126-11-20 09:30'
    const cells = [id, `fms_${key.slice(4, 12)}…`, 'ada@example.com', 'laptop', state]
    expect(row).toContain(cells.join('  '))
  })

  it('print a sentence for people and an empty JSON list for programs if there are no items', async () => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme')

    expect((await runFormctl(['user', 'list'], { isOutputTty: true })).stdout).toBe('There are no users.\n')
    expect((await runFormctl(['user', 'list'])).stdout).toBe('{"users":[]}\n')
    expect((await runFormctl(lists[2]!, { isOutputTty: true })).stdout).toBe('acme has no members.\n')
  })

  it('replace control characters in names', async () => {
    await given('organization', 'create', '--name', 'A\u001b[31m\nB', '--slug', 'acme')

    const { stdout } = await runFormctl(['organization', 'list'], { isOutputTty: true })

    expect(stdout).toContain('A\ufffd[31m\ufffdB')
    expect(stdout).not.toContain('\u001b')
    const shown = await runFormctl(['organization', 'show', '--organization', 'acme'], { isOutputTty: true })
    expect(shown.stdout).toContain('acme (A\ufffd[31m\nB), id ')
  })

  it.each([
    [['member', 'set', '--organization', 'acme', '--user', 'ada@example.com'], '--role'],
    [
      ['organization', 'create', '--name', 'A', '--slug', 'b', '--metadata', '{"__proto__":1}'],
      'It must be JSON',
    ],
  ])('reject %j, which could change what nobody meant', async (args, message) => {
    expect(await runFormctl(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })

  it('reject an unknown organization', async () => {
    expect(await runFormctl(['member', 'list', '--organization', 'missing'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('There is no organization missing'),
    })
  })
})

describe('organization delete', () => {
  const remove = ['organization', 'delete', '--organization', 'acme']
  const organizations = async () => (await given('organization', 'list')).organizations

  it('shows what it will delete, and deletes nothing if the input is n', async () => {
    await givenMember()

    const { code, prompts } = await runFormctl(remove, { typed: 'n' })

    expect(prompts).toEqual([
      'Delete acme "Acme" permanently (memberships: 1, forms with their revisions and replies: 0, deleted forms: 0)? [y/N] ',
    ])
    expect([code, (await organizations()).length]).toEqual([1, 1])
    expect((await given('member', 'list', '--organization', 'acme')).members).toHaveLength(1)
  })

  it('deletes nothing without --yes if stdin is not a terminal', async () => {
    await givenMember()

    const { code, stderr } = await runFormctl(remove)

    expect([code, (await organizations()).length]).toEqual([1, 1])
    expect(stderr).toContain('Add --yes')
  })

  it.each<[string[], TerminalInput]>([
    [['--yes'], {}],
    [[], { typed: 'yes' }],
  ])('deletes with %j and %j', async (options, input) => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme')

    expect(await runFormctl([...remove, ...options], input)).toMatchObject({ code: 0 })

    expect(await organizations()).toEqual([])
  })
})

describe('a command that cannot be undone', () => {
  const remove = ['member', 'remove', ...acmeAndAda]
  const isMember = async () => (await given('member', 'list', '--organization', 'acme')).members.length === 1

  it.each(['y', 'Yes', ' yes '])('runs if the input is "%s"', async (typed) => {
    await givenMember()

    const { code, prompts } = await runFormctl(remove, { typed })

    expect(prompts).toEqual(['Remove ada@example.com from acme? [y/N] '])
    expect([code, await isMember()]).toEqual([0, false])
  })

  it.each(['', 'n', 'no', 'yesterday'])('does not run if the input is "%s"', async (typed) => {
    await givenMember()

    const { code, stdout, stderr } = await runFormctl(remove, { typed })

    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'error: Nothing was changed.\n' })
    expect(await isMember()).toBe(true)
  })

  it.each<[string, string[], TerminalInput]>([
    ['with --yes', ['--yes'], { typed: 'n' }],
    ['with -y', ['-y'], { typed: 'n' }],
    ['if stdin is not a terminal', [], {}],
    ['if only stdout is a terminal', [], { isOutputTty: true }],
  ])('runs without a prompt %s', async (_, options, input) => {
    await givenMember()

    const { code, prompts } = await runFormctl([...remove, ...options], input)

    expect({ code, prompts }).toEqual({ code: 0, prompts: [] })
    expect(await isMember()).toBe(false)
  })

  it('names the key in the prompt, and does not prompt for an unknown key', async () => {
    await givenMember()
    const { id, key } = await givenKey()

    const refused = await runFormctl(['key', 'revoke', id], { typed: 'no' })
    const missing = await runFormctl(['key', 'revoke', 'nonsense'], { typed: 'yes' })

    expect(refused.prompts).toEqual([
      `Revoke the API key fms_${key.slice(4, 12)}… "laptop" permanently? [y/N] `,
    ])
    expect(missing.prompts).toEqual([])
    expect((await given('key', 'list')).keys[0].revokeTime).toBeUndefined()
  })
})
