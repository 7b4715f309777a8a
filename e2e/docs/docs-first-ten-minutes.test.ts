import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, npmStart, npmStop, processesOf, readOrEmpty, type Started } from '../operations/npm-start.ts'
import { publishable } from '../system.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/first-ten-minutes.md'), 'utf8')

/** The commands of each heading. Those before the first symptom define functions, and run doctor. */
const blocks = page
  .split(/^(?=##+ )/m)
  .map(
    (section) => [section, [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, each]) => each!)] as const,
  )
const [definitions] = blocks[0]![1]
const symptoms = blocks.slice(1).filter(([, commands]) => commands.length > 0)

let system: Started
let folder: string
let logs = ''

/** Runs the commands of a symptom by `sh`, with the log of this system. */
const look = async (symptom: string) => {
  const [, commands] = symptoms.find(([section]) => section.startsWith(`## ${symptom}\n`))!
  writeFileSync(join(folder, 'log'), logs)
  const script = [definitions, `logs() { cat ${folder}/log; }`, ...commands].join('\n')
  const formctl = `${process.execPath} ${root}/formctl/src/formctl.ts`
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', script.replaceAll('npm run -s formctl --', formctl)],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATA_DIR: folder,
        PORT: new URL(system.baseUrl).port,
      },
    },
  )
  return stdout
}

const pidOf = (service: string) =>
  processesOf(folder).find((pid) =>
    readOrEmpty(`/proc/${pid}/cmdline`).includes(`services/${service}/src/main.ts`),
  )!

/** Stops a service, as a hang does, until the end of the block. */
const hang = (service: string) => {
  const pid = pidOf(service)
  process.kill(pid, 'SIGSTOP')
  return { [Symbol.dispose]: () => process.kill(pid, 'SIGCONT') }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-first-ten-minutes-'))
  system = await npmStart(folder, { LOG_LEVEL: 'info', LOG_FORMAT: 'json', PUBLISH_TIMEOUT_MS: '3000' })
  system.child.stdout!.on('data', (chunk) => {
    logs += chunk
  })
})
afterAll(async () => {
  await npmStop(system)
  rmSync(folder, { recursive: true, force: true })
})

describe('the commands of docs/first-ten-minutes.md', () => {
  it('run on a healthy system', async () => {
    expect(symptoms.length).toBeGreaterThan(7)
    for (const [section] of symptoms.filter(([section]) => section.startsWith('## ')))
      await look(/^## (.*)$/m.exec(section)![1]!)
    expect(await look('No answer')).toMatch(/^200$/m)
    expect(await look('The disk fills')).toMatch(/ store_disk_free_bytes\{store="forms"\} \d{6,}/)
    const memory = await look('Memory')
    for (const service of ['gateway', 'organizations', 'forms', 'publisher'])
      expect(memory).toMatch(new RegExp(`^${service} 127.0.0.1:\\d+ process_resident_memory_bytes \\d+`, 'm'))
  })

  it('show that the gateway hangs', async () => {
    using _ = hang('gateway')

    expect(await look('No answer')).toMatch(/^000$/m)
  })

  it('name the service whose circuit is open', async () => {
    using _ = hang('forms')
    expect((await call(system, 'GET', '/organizations/demo/forms')).status).toBe(503)

    await expect.poll(() => logs).toContain('circuit open: its requests fail immediately')
    const shown = await look('Requests get 503')

    expect(shown).toMatch(/ http_error_responses_total\{reason="UPSTREAM_UNAVAILABLE"\} 1/)
    expect(shown).toMatch(/ circuit_open\{circuit="forms"\} 1/)
    expect(shown).toContain('circuit open: its requests fail immediately')
  })

  it('show commands that a publisher discards, because it hung', async () => {
    const forms = '/organizations/demo/forms'
    await expect.poll(async () => (await call(system, 'GET', forms)).status).toBe(200)
    const { publicId } = (await call(system, 'POST', forms, { form: publishable() })).body
    const stopped = hang('publisher')
    expect((await call(system, 'POST', `${forms}/${publicId}/publish`)).status).toBe(504)
    stopped[Symbol.dispose]()
    await expect.poll(() => logs).toContain('late commands discarded')

    const shown = await look('Publishes time out')

    expect(shown).toContain('late commands discarded')
    expect(shown).toMatch(/ publish_commands_total\{outcome="late"\} [1-9]/)
  })

  it('count the requests of each user', async () => {
    for (let sent = 0; sent < 30; sent++) await call(system, 'GET', '/organizations/demo/forms')

    await expect
      .poll(() => look('A tenant floods'))
      .toMatch(/^ +\d\d "user":"[0-9a-f-]+","organization":"[0-9a-f-]+"$/m)
  })
})
