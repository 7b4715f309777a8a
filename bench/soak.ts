/**
 * `npm run bench:soak`: sends a steady mix of requests and reports whether the memory of any process keeps growing.
 *
 *     npm run bench:soak -- [--minutes N] [--rate N]
 *
 * The defaults are 10 minutes and 200 requests per second.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { startLoadGenerator } from './measure.ts'
import { figure, markdownTable } from './report.ts'
import { memoryOf } from './sides/processes.ts'
import { startProduct } from './sides/start-product.ts'

const sampleEveryMs = 2_000

/** Growth between the medians of the third and of the last quarter; less is noise. */
const negligibleMiB = 3

/** RSS and own memory in MiB, by process. */
type Samples = Map<string, { rss: number; own: number }[]>

const soak = async (minutes: number, requestsPerSecond: number): Promise<Samples> => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const product = stack.use(await startProduct({ name: 'product', folder, forms: 1_000 }))
  const generator = stack.use(startLoadGenerator())

  const samples: Samples = new Map()
  const load = { ...product.load('mix', 16), requestsPerSecond }
  const running = generator.run({ ...load, seconds: minutes * 60 })
  const done = running.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([done, delay(sampleEveryMs, false)])))
    for (const [process, [pid]] of Object.entries(product.pids())) {
      const { rss, anonymous } = memoryOf(pid!)
      samples.getOrInsertComputed(process, () => []).push({ rss: rss / 2 ** 20, own: anonymous / 2 ** 20 })
    }
  const { requests, failures, seconds, p50, p99 } = await running
  if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`)
  process.stdout.write(
    `${requests} requests in ${Math.round(seconds)} s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n\n`,
  )
  return samples
}

const quarter = <T>(samples: readonly T[], number: number): T[] =>
  samples.slice(Math.floor(((number - 1) * samples.length) / 4), Math.ceil((number * samples.length) / 4))

const rowOf = ([process, samples]: [string, { rss: number; own: number }[]]): string[] => {
  const medianOf = (of: 'rss' | 'own', number: number) =>
    median(quarter(samples, number).map((sample) => sample[of]))
  const grows = medianOf('rss', 4) - medianOf('rss', 3) > negligibleMiB
  const figures = (['rss', 'own'] as const).flatMap((of) => [1, 3, 4].map((number) => medianOf(of, number)))
  return [process, grows ? 'GROWS' : 'steady', ...figures.map(figure)]
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '200' } },
})
const samples = await soak(Number(values.minutes), Number(values.rate))
process.stdout.write(
  `Medians of the first, third and last quarter in MiB; own memory excludes mapped files.\n\n${markdownTable(
    ['process', '', 'RSS 1', 'RSS 3', 'RSS 4', 'own 1', 'own 3', 'own 4'],
    [...samples].map(rowOf),
  )}\n`,
)
