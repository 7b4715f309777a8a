import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import { startMongo, startStandaloneMongo } from '@fms/testkit/mongodb'
import { migrateBeyondThisRelease } from '@fms/testkit/newer-schema'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent } from '@fms/testkit/processes'
import { afterAll, describe, expect, it } from 'vitest'

const directory = mkdtempSync(join(tmpdir(), 'e2e-newer-'))
const mongo = await startMongo()
const standalone = await startStandaloneMongo()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await mongo[Symbol.asyncDispose]()
  await standalone?.[Symbol.asyncDispose]()
})

const migrate = { directory: migrateDirectoryStore, forms: migrateFormsStore }
const storeOf = { organizations: 'directory', forms: 'forms' } as const

/** Starts a service and waits for its exit. @returns its exit code and log lines. */
const runUntilExit = async (name: keyof typeof storeOf, storeUrl: string) => {
  const [port] = await freePorts(1)
  const env = {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    PORT: `${port}`,
    LOG_FORMAT: 'json',
    INTERNAL_SECRET: 'a secret of the tests, long enough',
    PUBLIC_FORM_BASE_URL: 'https://forms.example/f',
    NATS_URL: 'nats://127.0.0.1:1',
    DIRECTORY_STORE_URL: storeUrl,
    FORMS_STORE_URL: storeUrl,
  }
  const main = join(import.meta.dirname, '../../services', name, 'src/main.ts')
  const child = spawnWithParent({ name, args: [main], env }, 'pipe')
  const [lines, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit')])
  return { code, lines: lines.trim().split('\n') }
}

describe.each(['organizations', 'forms'] as const)('the %s service', (name) => {
  it.each([
    ['SQLite', `sqlite:${join(directory, `${name}.db`)}`],
    ['MongoDB', mongo.url],
  ])('does not start on a %s store with the schema of a newer release', async (_, url) => {
    const store = storeOf[name]
    await migrate[store](url)
    await migrateBeyondThisRelease(url, store)

    const { code, lines } = await runUntilExit(name, url)

    expect(code).toBe(1)
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      msg: 'cannot start',
      err: { message: expect.stringMatching(/version 999 .*Upgrade this service, or restore the backup/) },
    })
  })

  it.runIf(standalone)('does not start on a standalone MongoDB, and logs how to set it up', async () => {
    const { code, lines } = await runUntilExit(name, standalone!.url)

    expect(code).toBe(1)
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      msg: 'cannot start',
      err: {
        reason: 'STORE_NOT_SUPPORTED',
        parts: { advice: expect.stringContaining("mongosh --eval 'rs.initiate()'") },
      },
    })
  })
})
