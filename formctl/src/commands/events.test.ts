import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FormEvent } from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../run.ts'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl, type TerminalInput } from '../testing/run-formctl.ts'

let dataDir: string
let organizationId: string

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'formctl-events-'))
  vi.stubEnv('DATA_DIR', dataDir)
  for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL']) vi.stubEnv(name, '')
  await runFormctl(['migrate'])
  const acme = await runFormctl(['organization', 'create', '--name', 'Acme', '--slug', 'acme', '--json'])
  organizationId = JSON.parse(acme.stdout).id
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true })
})

const openForms = () => openFormsStore(`sqlite:${join(dataDir, 'forms.db')}`)

/** Records events: one for each form. */
const record = async (forms: number, name = 'Intake') => {
  await using store = await openForms()
  const records = Array.from({ length: forms }, () => newFormRecord({ organizationId }))
  await Promise.all(records.map((each) => store.importForm({ ...each, draft: { ...each.draft, name } })))
}

const events = (verb: 'list' | 'tail', args: string[] = [], input: TerminalInput = {}) =>
  runFormctl(['events', verb, '--organization', 'acme', ...args], input)

const eventsIn = (stdout: string) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const sequencesIn = (stdout: string) => eventsIn(stdout).map(({ sequence }) => Number(sequence))

describe('formctl events list', () => {
  it('prints each event as a line of JSON', async () => {
    await record(3)

    const { code, stdout } = await events('list')

    expect(code).toBe(0)
    expect(sequencesIn(stdout)).toEqual([1, 2, 3])
    for (const event of eventsIn(stdout)) expect(FormEvent.parse(event)).toEqual(event)
    expect((await events('list', ['--json'], { isOutputTty: true })).stdout).toBe(stdout)
  })

  it('prints a line for people on a terminal, without control characters', async () => {
    await record(1, 'A\u001b[31m\nB')

    const { stdout } = await events('list', [], { isOutputTty: true })

    expect(stdout).toMatch(
      /^1 {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}form\.imported {5}[A-Za-z0-9]{10} {2}operator {2}A\ufffd\[31m\ufffdB\n$/,
    )
  })

  it('prints nothing for an empty log', async () => {
    expect(await events('list')).toMatchObject({ code: 0, stdout: '' })
  })

  it('reads long logs in batches', async () => {
    await record(501)

    expect(sequencesIn((await events('list')).stdout)).toEqual(Array.from({ length: 501 }, (_, i) => i + 1))
  })

  it('begins after --after, which may be the end', async () => {
    await record(3)

    expect(sequencesIn((await events('list', ['--after', '1'])).stdout)).toEqual([2, 3])
    expect((await events('list', ['--after', '3'])).stdout).toBe('')
    expect(await events('list', ['--after', '-1'])).toMatchObject({ code: 2 })
    expect(await events('list', ['--after', 'x'])).toMatchObject({ code: 2 })
    expect(await events('list', ['--after', '9007199254740993'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a whole number from 0 to 9007199254740991'),
    })
  })

  it('prints the events that match --filter', async () => {
    await record(3)
    const [, second] = eventsIn((await events('list')).stdout)
    const formId = second.subject.split('/').at(-1).toUpperCase()

    const listed = async (filter: string) => sequencesIn((await events('list', ['--filter', filter])).stdout)
    expect(await listed(`form = ${formId} type = "form.*"`)).toEqual([2])
    expect(await listed('type != "form.imported"')).toEqual([])
    expect(await listed(' ')).toEqual([1, 2, 3])
  })

  it('says what is wrong with a filter', async () => {
    const tooComplex = Array(61).fill('type = "form.*"').join(' ')
    for (const filter of ['name = "x"', 'type =', 'form = "nobody"', tooComplex]) {
      expect(await events('list', ['--filter', filter])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--filter'),
      })
    }
  })

  it('says where a log begins that retention has shortened', async () => {
    await record(3)
    await using store = await openForms()
    await store.events.markStreamed(organizationId, 3)
    await store.events.prune(new Date('2100-01-01T00:00:00Z'), 2)

    expect(sequencesIn((await events('list')).stdout)).toEqual([3])
    expect(sequencesIn((await events('list', ['--after', '2'])).stdout)).toEqual([3])
    expect(await events('list', ['--after', '1'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /Changes are missing in between: export or list the forms first\. Then continue with --after 2\./,
      ),
    })
  })

  it.each(['list', 'tail'] as const)(
    '%s fails after the end of a log, which a restore may have shortened',
    async (command) => {
      await record(3)

      expect(await events(command, ['--after', '4'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('The last event is 0000000000000003.'),
      })
    },
  )

  it('reads the log of a deleted organization by its id', async () => {
    await record(2)
    await runFormctl(['organization', 'delete', '--organization', 'acme', '--yes'])

    const { code, stdout } = await runFormctl([
      'events',
      'list',
      '--organization',
      organizationId.toUpperCase(),
    ])

    expect(code).toBe(0)
    expect(sequencesIn(stdout)).toEqual([1, 2, 3, 4])
    expect(await events('list')).toMatchObject({ code: 1 })
  })

  it.each(['nobody', '0198a7c2-7b3e-7c4d-9e5f-0a1b2c3d4e5f'])(
    'rejects the unknown organization %s',
    async (ref) => {
      expect(await runFormctl(['events', 'list', '--organization', ref])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`There is no organization ${ref}`),
      })
    },
  )
})

describe('formctl events tail', () => {
  /** Records events until the command has printed `count`, then ends it. */
  const tailed = async (args: string[], count: number, isOutputTty = false) => {
    const lines: string[] = []
    const errors: string[] = []
    const listeners = process.listenerCount('SIGINT')
    const terminal = {
      isInputTty: false,
      isOutputTty,
      print: (line: string) => void lines.push(line),
      printError: (line: string) => void errors.push(line),
      prompt: async () => '',
    }
    const words = ['events', 'tail', '--organization', 'acme', ...args]
    const running = createProgram(terminal).parseAsync(words, { from: 'user' })
    await vi.waitUntil(() => process.listenerCount('SIGINT') > listeners, { timeout: 10_000 })
    while (lines.length < count) await record(1)
    process.emit('SIGINT')
    await running
    return { stdout: lines.join(''), stderr: errors.join('') }
  }

  it('prints earlier events from --after on, then new ones, and ends with Ctrl-C', async () => {
    await record(2)

    const { stdout, stderr } = await tailed(['--after', '1'], 3)

    const sequences = sequencesIn(stdout)
    expect(stderr).toBe('')
    expect(sequences).toEqual(sequences.map((_, index) => index + 2))
  })

  it('begins with the next event by default', async () => {
    await record(2)

    const sequences = sequencesIn((await tailed([], 1)).stdout)

    expect(sequences[0]).toBeGreaterThan(2)
    expect(sequences).toEqual(sequences.map((_, index) => sequences[0]! + index))
  })

  it('says on a terminal that it waits', async () => {
    await record(2)

    const { stderr } = await tailed([], 1, true)

    expect(stderr).toBe('Waiting for events of acme after 2.\n')
  })
})
