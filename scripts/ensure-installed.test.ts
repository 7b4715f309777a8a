import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

let clone: string

/** A copy of the files that npm needs. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'ensure-installed-'))
  const manifests = globSync('{libs,services}/*/package.json', { cwd: root })
  const files = ['package.json', 'package-lock.json', 'scripts/ensure-installed.mjs', 'formctl/package.json']
  for (const file of [...files, ...manifests]) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(root, file), join(clone, file))
  }
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
