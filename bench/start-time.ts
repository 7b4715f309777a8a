import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@fms/testkit/ports'

/** Milliseconds from the call of `npm start` on this installed clone, with no data yet, until `/readyz` answers 200. */
export const measureStart = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-start-'))
  const [port] = (await freePorts(1)) as [number]
  const begun = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, PORT: `${port}`, DATA_DIR: folder, npm_config_loglevel: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const exited = once(npm, 'exit')
  try {
    while (!(await isReady(port))) {
      if (npm.exitCode !== null) throw new Error(`npm start ended with exit code ${npm.exitCode}`)
      await delay(10)
    }
    return performance.now() - begun
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}

const isReady = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
