import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Typist, type } from './testing.ts'

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-'))
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DIRECTORY_STORE_URL', '')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const given = async (...args: string[]) => JSON.parse((await type([...args, '--json'])).stdout)

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

    const answers = []
    for (const list of lists) {
      const inPipe = await type(list)
      expect(await type([...list, '--json'], { isReading: true })).toEqual(inPipe)
      answers.push(JSON.parse(inPipe.stdout))
    }

    expect(answers).toEqual([
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
      lists.map(async (list) => (await type(list, { isReading: true })).stdout),
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

  it('tell in words that there is nothing, and give programs an empty list', async () => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme')

    expect((await type(['user', 'list'], { isReading: true })).stdout).toBe('There are no users.\n')
    expect((await type(['user', 'list'])).stdout).toBe('{"users":[]}\n')
    expect((await type(lists[2]!, { isReading: true })).stdout).toBe('acme has no members.\n')
  })

  it('let no name write to the terminal', async () => {
    await given('organization', 'create', '--name', 'A\u001b[31m\nB', '--slug', 'acme')

    const { stdout } = await type(['organization', 'list'], { isReading: true })

    expect(stdout).toContain('A\ufffd[31m\ufffdB')
    expect(stdout).not.toContain('\u001b')
  })

  it('refuse an organization that is not there', async () => {
    expect(await type(['member', 'list', '--organization', 'missing'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('There is no organization missing'),
    })
  })
})

describe('organization delete', () => {
  const remove = ['organization', 'delete', '--organization', 'acme']
  const organizations = async () => (await given('organization', 'list')).organizations

  it('says what goes, and does nothing when the answer is no', async () => {
    await givenMember()

    const { code, questions } = await type(remove, { answer: 'n' })

    expect(questions).toEqual([
      'Delete acme "Acme" for good (memberships: 1, forms with their revisions and replies: 0)? [y/N] ',
    ])
    expect([code, (await organizations()).length]).toEqual([1, 1])
    expect((await given('member', 'list', '--organization', 'acme')).members).toHaveLength(1)
  })

  it('does nothing without --yes where nobody can be asked', async () => {
    await givenMember()

    const { code, stderr } = await type(remove)

    expect([code, (await organizations()).length]).toEqual([1, 1])
    expect(stderr).toContain('Add --yes')
  })

  it.each<[string[], Typist]>([
    [['--yes'], {}],
    [[], { answer: 'yes' }],
  ])('is done with %j and %j', async (options, typist) => {
    await given('organization', 'create', '--name', 'Acme', '--slug', 'acme')

    expect(await type([...remove, ...options], typist)).toMatchObject({ code: 0 })

    expect(await organizations()).toEqual([])
  })
})

describe('what cannot be undone', () => {
  const remove = ['member', 'remove', ...acmeAndAda]
  const isMember = async () => (await given('member', 'list', '--organization', 'acme')).members.length === 1

  it.each(['y', 'Yes', ' yes '])('is done when the answer is "%s"', async (answer) => {
    await givenMember()

    const { code, questions } = await type(remove, { answer })

    expect(questions).toEqual(['Shut ada@example.com out of acme? [y/N] '])
    expect([code, await isMember()]).toEqual([0, false])
  })

  it.each(['', 'n', 'no', 'yesterday'])('is not done when the answer is "%s"', async (answer) => {
    await givenMember()

    const { code, stdout, stderr } = await type(remove, { answer })

    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'error: Nothing was changed.\n' })
    expect(await isMember()).toBe(true)
  })

  it.each<[string, string[], Typist]>([
    ['with --yes', ['--yes'], { answer: 'n' }],
    ['with -y', ['-y'], { answer: 'n' }],
    ['where nobody can be asked', [], {}],
    ['where nobody can be asked, though somebody reads', [], { isReading: true }],
  ])('is done without a question %s', async (_, options, typist) => {
    await givenMember()

    const { code, questions } = await type([...remove, ...options], typist)

    expect({ code, questions }).toEqual({ code: 0, questions: [] })
    expect(await isMember()).toBe(false)
  })

  it('names the key that is to be revoked, and asks for none that is not there', async () => {
    await givenMember()
    const { id, key } = await givenKey()

    const refused = await type(['key', 'revoke', id], { answer: 'no' })
    const missing = await type(['key', 'revoke', 'nonsense'], { answer: 'yes' })

    expect(refused.questions).toEqual([`End the API key fms_${key.slice(4, 12)}… "laptop" for good? [y/N] `])
    expect(missing.questions).toEqual([])
    expect((await given('key', 'list')).keys[0].revokeTime).toBeUndefined()
  })
})
