import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

let clone: string

/** A clone with one dependency, as our lock file has it: npm takes seconds to read them all. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'ensure-installed-'))
  mkdirSync(join(clone, 'scripts'))
  cpSync(join(root, 'scripts/ensure-installed.mjs'), join(clone, 'scripts/ensure-installed.mjs'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const manifest = { name: 'clone', dependencies: { zod: lock.packages['node_modules/zod'].version } }
  const packages = { '': manifest, 'node_modules/zod': lock.packages['node_modules/zod'] }
  writeFileSync(join(clone, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ ...lock, name: 'clone', packages }))
})
afterEach(() => rmSync(clone, { recursive: true }))

/** Runs the script in the clone, with an empty cache and the given registry. */
const ensureInstalled = (registry: string) => {
  const env = {
    PATH: process.env.PATH,
    npm_config_registry: registry,
    npm_config_cache: join(clone, 'cache'),
  }
  const script = join(clone, 'scripts/ensure-installed.mjs')
  return spawn(process.execPath, [script], { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

describe('a fresh clone', () => {
  it('reports that there is no network', async () => {
    // Nothing listens on port 1.
    const child = ensureInstalled('http://127.0.0.1:1')
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

    expect(code).toBe(1)
    expect(said).toContain('The npm registry cannot be reached: is this machine online?')
  })

  it('reports that the registry does not respond, while it waits', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')

    const child = ensureInstalled(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const ended = once(child, 'exit')
    let said = ''
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      said += chunk
      if (!said.includes('Nothing has come from the npm registry')) continue
      // npm fails once the server and its connections are closed.
      silent.close()
      for (const socket of sockets) socket.destroy()
    }

    expect(said).toContain('Nothing has come from the npm registry')
    expect(await ended).toEqual([1, null])
  })
})
