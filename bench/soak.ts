/** `npm run bench:soak`: sends a steady mix of requests and reports whether the memory of any process keeps growing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { startLoadGenerator } from './load/load-generator.ts'
import { type Growth, growthOf, growthTable, type Sample } from './report/growth.ts'
import { toText } from './report/tables.ts'
import { positive, runCommand } from './run-command.ts'
import { memoryOf } from './sides/processes.ts'
import { startProduct } from './sides/start-product.ts'

const usage = `npm run bench:soak -- [OPTION…]

  --minutes N       default: 10
  --rate N          requests per second (default: 200)
  --connections N   default: 16
  --forms N         default: 1000
  --json PATH       file for the samples (default: bench/results/soak.json)
`

const optionSchemas = {
  minutes: positive.default(10),
  rate: positive.default(200),
  connections: positive.int().default(16),
  forms: positive.int().default(1_000),
  json: z.string().default(join(import.meta.dirname, 'results/soak.json')),
}
type Options = z.infer<z.ZodObject<typeof optionSchemas>>

const sampleEveryMs = 2_000

const soak = async (options: Options) => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const product = stack.use(await startProduct({ name: 'product', folder, forms: options.forms }))
  const generator = stack.use(startLoadGenerator())

  const startedAt = performance.now()
  const samples: Sample[] = []
  const sample = () => {
    const seconds = (performance.now() - startedAt) / 1000
    for (const [process, [pid]] of Object.entries(product.pids())) {
      samples.push({ process, seconds, ...memoryOf(pid!) })
    }
  }
  const load = { ...product.load('mix', options.connections), requestsPerSecond: options.rate }
  const running = generator.run({ ...load, seconds: options.minutes * 60 })
  const done = running.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([done, delay(sampleEveryMs, false)]))) sample()
  const { requests, failures, seconds, p50, p99 } = await running
  if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`)

  const growth = growthOf(samples)
  report(options, samples, growth)
  process.stdout.write(
    `${requests} requests in ${Math.round(seconds)} s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`,
  )
}

const report = ({ json }: Options, samples: readonly Sample[], growth: readonly Growth[]) => {
  const path = resolve(json)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ growth, samples }, null, 2)}\n`)
  process.stdout.write(`${toText(growthTable(growth))}\n\nSamples: ${path}\n`)
}

await runCommand('npm run bench:soak', usage, optionSchemas, soak)
