import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { findSampleSecrets } from '@fms/service-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const example = parseEnv(readFileSync(join(root, '.env.example'), 'utf8'))
const names = Object.keys(example)
const run = promisify(execFile)

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'compose-secrets-'))
  mkdirSync(join(folder, 'deploy'))
  for (const file of ['package.json', '.env.example', 'deploy/compose-secrets.sh']) {
    cpSync(join(root, file), join(folder, file))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const readEnv = () => readFileSync(join(folder, '.env'), 'utf8')
const checkSecrets = (env: NodeJS.Dict<string>) =>
  run('sh', [join(root, 'deploy/check-secrets.sh')], { env: { PATH: process.env.PATH, ...env } })

describe('npm run compose:secrets', () => {
  it('writes .env with new secrets, readable only by its owner', async () => {
    await run('npm', ['run', 'compose:secrets'], { cwd: folder })

    const written = parseEnv(readEnv())
    const samples = findSampleSecrets(example, names)
    const secrets = samples.map((name) => written[name]!)
    expect(samples).toHaveLength(14)
    expect(new Set(secrets).size).toBe(14)
    expect(secrets.filter((secret) => !/^[0-9a-f]{64}$/.test(secret))).toEqual([])
    expect({ ...written, ...Object.fromEntries(samples.map((name) => [name, example[name]])) }).toEqual(
      example,
    )
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    await checkSecrets(written)
  })

  it('does not change an existing .env and prints an error', async () => {
    const before = readEnv()

    await expect(run('sh', ['deploy/compose-secrets.sh'], { cwd: folder })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('.env already exists and was not changed.'),
    })
    expect(readEnv()).toBe(before)
  })
})

describe('deploy/check-secrets.sh', () => {
  it('names exactly the variables with sample values', async () => {
    const env = { ...example, NATS_FORMS_PASSWORD: 'fresh' }

    const { stderr } = await checkSecrets(env).catch((error) => error)

    const named = stderr.split('\n').filter((line: string) => names.includes(line))
    expect(named).toEqual(findSampleSecrets(env, names).sort())
    expect(named).not.toContain('NATS_FORMS_PASSWORD')
    await expect(checkSecrets(env)).rejects.toMatchObject({ code: 1 })
  })

  it('accepts sample values in development', async () => {
    await expect(checkSecrets({ ...example, NODE_ENV: 'development' })).resolves.toMatchObject({ stderr: '' })
  })
})
