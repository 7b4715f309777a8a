import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@fms/testkit/ports'

/** Runs `npm start` on an empty data folder. @returns milliseconds until `/readyz` returns 200. */
export const measureStart = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-start-'))
  const [port] = (await freePorts(1)) as [number]
  const startedAt = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '../..'),
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
    return performance.now() - startedAt
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
