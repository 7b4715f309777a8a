import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isReady } from '@fms/testkit/instances'
import { freePorts } from '@fms/testkit/ports'
import { formNameOf } from './load/generated-forms.ts'
import {
  type Amount,
  type HttpLoad,
  headersOf,
  type Load,
  type LoadResult,
  type LoadTarget,
  type Operation,
  requestsOf,
  statusOf,
} from './load/requests.ts'
import type { Setting } from './plan.ts'
import type { Measurement } from './report.ts'
import { cpuMsOf, type Side } from './sides/processes.ts'

export interface LoadGenerator extends AsyncDisposable {
  run(load: Load & Amount): Promise<LoadResult>
}

/** Starts the load generator as a separate process, so that its CPU time counts for no side. */
export const startLoadGenerator = (): LoadGenerator => {
  const child = fork(join(import.meta.dirname, 'load/generate-load.ts'))
  const exited = new AbortController()
  child.once('exit', () => exited.abort(new Error('the load generator exited')))
  return {
    async run(load) {
      const message = once(child, 'message', { signal: exited.signal })
      child.send(load)
      const [result] = (await message) as [LoadResult | { error: string }]
      if ('error' in result) throw new Error(`the load generator failed: ${result.error}`)
      return result
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** Time for the work that a load leaves behind to end, in milliseconds. */
const settleMs = 100

/**
 * Warms the side up with a number of requests, then measures it once.
 *
 * @throws {Error} when any request failed, since the figure would be meaningless.
 */
export const measure = async (
  generator: LoadGenerator,
  side: Side,
  operation: Operation,
  { forms, connections, seconds }: Setting,
  warmUpRequests: number,
  round: number,
): Promise<Measurement> => {
  const load = side.load(operation, connections)
  const about = `${operation} on ${side.name}, ${forms} forms, ${connections} connections`
  const run = async (amount: Amount) => {
    const result = await generator.run({ ...load, ...amount })
    if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${about}`)
    return result
  }
  await run({ amount: warmUpRequests })
  await delay(settleMs)
  const before = cpuOf(side)
  const { requests, seconds: took, p50, p99 } = await run({ seconds })
  if (requests === 0) throw new Error(`no response in ${took.toFixed(1)} s: ${about}`)
  const after = cpuOf(side)
  await delay(settleMs)

  const cpu = Object.entries(after).map(([name, ms]) => [name, (ms - before[name]!) / requests] as const)
  return {
    side: side.name,
    operation,
    forms,
    connections,
    round,
    requests,
    perSecond: requests / took,
    p50,
    p99,
    cpuMs: cpu.reduce((sum, [, ms]) => sum + ms, 0),
    cpuMsOf: Object.fromEntries(cpu),
  }
}

const cpuOf = (side: Side): Record<string, number> =>
  Object.fromEntries(Object.entries(side.pids()).map(([name, pids]) => [name, cpuMsOf(pids)]))

/** Sends one request of the load and checks its response. @throws {Error} when it is not the expected one. */
export const probe = async ({ operation, target }: HttpLoad): Promise<void> => {
  const request = (await requestsOf(operation, target))()
  const response = await fetch(new URL(request.path, target.baseUrl), {
    method: request.method,
    headers: headersOf(target.apiKeys[0]!, request),
    ...(request.body !== undefined && { body: request.body }),
  })
  const text = await response.text()
  if (response.status === statusOf(operation) && isExpected(operation, target, text)) return
  throw new Error(
    `${operation}: ${request.method} ${request.path} returned ${response.status} ${text.slice(0, 500)}`,
  )
}

const isExpected = (operation: Operation, { forms }: LoadTarget, text: string): boolean => {
  if (operation === 'mix') return true
  if (operation === 'live 304') return text === ''
  const body = JSON.parse(text) as {
    name?: string
    forms?: unknown[]
    live?: boolean
    form?: { name: string }
  }
  if (operation === 'publish') return body.live === true
  if (operation === 'live') return body.form?.name.length === formNameOf(0).length
  if (body.forms) {
    const pageSize = operation.endsWith('list of 1000') ? 1000 : 10
    return body.forms.length === Math.min(pageSize, forms)
  }
  return body.name?.length === formNameOf(0).length
}

/** Runs `npm start` on an empty data folder. @returns milliseconds until `/readyz` returns 200. */
export const measureStart = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-start-'))
  const [port] = (await freePorts(1)) as [number]
  const startedAt = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, PORT: `${port}`, DATA_DIR: folder, npm_config_loglevel: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const exited = once(npm, 'exit')
  try {
    while (!(await isReady(`http://127.0.0.1:${port}`))) {
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
