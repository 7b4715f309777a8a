import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { sharedSystem } from '../shared-system.ts'
import { type Account, publishable } from '../system.ts'

interface Workflow {
  on: Record<string, { paths: string[] }>
  env: Record<string, string>
  jobs: Record<string, { steps: { run?: string; shell?: string }[] }>
}

const file = join(import.meta.dirname, '../../docs/examples/publish-forms.yml')
const workflow: Workflow = parse(readFileSync(file, 'utf8'))
const commit = '8843d7f92416211de9ebb963ff4ce28125932878'

const system = await sharedSystem()
let account: Account
let repository: string
let forms: string[]

beforeEach(async () => {
  account = await system.account({ role: 'editor' })
  repository = mkdtempSync(join(tmpdir(), 'publish-forms-'))
  mkdirSync(join(repository, 'forms'))
  forms = await Promise.all(['First', 'Second'].map(newForm))
  return () => rmSync(repository, { recursive: true })
})

/** Creates a form, and its definition in the repository. @returns its public id. */
const newForm = async (name: string): Promise<string> => {
  const { body } = await system.call(account, 'POST', account.forms, { form: {} })
  define(body.publicId, publishable({ name }))
  return body.publicId
}

const define = (publicId: string, form: object) =>
  writeFileSync(join(repository, `forms/${publicId}.json`), `${JSON.stringify({ form }, null, 2)}\n`)

/** Runs the shell commands of a job as a CI runner does. */
const runJob = (name: string, sha = commit) => {
  const [step] = workflow.jobs[name]!.steps.filter(({ run }) => run)
  const env = {
    PATH: process.env.PATH,
    FORMS: `${system.baseUrl}${account.forms}`,
    KEY: account.apiKey,
    COMMIT: sha,
  }
  expect(Object.keys(env)).toEqual(expect.arrayContaining(Object.keys(workflow.env)))
  const options = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step!.run!]
  return promisify(execFile)(step!.shell!, options, { cwd: repository, env })
}

const get = async (path: string) => (await system.call(account, 'GET', `${account.forms}/${path}`)).body
const revisionsOf = async (form: string) => (await get(`${form}/revisions`)).revisions.length

describe('docs/examples/publish-forms.yml', () => {
  it('is a workflow for pull requests and pushes that change forms', () => {
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'push'])
    expect(Object.values(workflow.on).map(({ paths }) => paths)).toEqual([['forms/**'], ['forms/**']])
    expect(Object.keys(workflow.jobs)).toEqual(['check', 'publish'])
  })

  it('publishes every form once, also when a commit runs twice', async () => {
    await runJob('publish')
    await runJob('publish')

    for (const [index, form] of forms.entries()) {
      expect((await get(`${form}/revisions/live`)).form.name).toBe(['First', 'Second'][index])
      expect(await revisionsOf(form)).toBe(1)
    }
  })

  it('creates a new revision for another commit', async () => {
    await runJob('publish')
    define(forms[1]!, publishable({ name: 'Changed' }))
    await runJob('publish', commit.replace('8', '9'))

    expect((await get(`${forms[1]}/revisions/live`)).form.name).toBe('Changed')
    expect(await revisionsOf(forms[1]!)).toBe(2)
  })

  it('validates without storing anything', async () => {
    const second = join(repository, `forms/${forms[1]}.json`)
    writeFileSync(second, `\n${readFileSync(second, 'utf8')}`)

    await runJob('check')

    for (const form of forms) expect((await get(form)).name).toBe('Untitled form')
  })

  it.each(['check', 'publish'])('fails the job %s when a form is invalid', async (job) => {
    define(forms[1]!, { nmae: 'Second' })

    await expect(runJob(job)).rejects.toMatchObject({ stderr: expect.stringContaining('400') })
  })
})
