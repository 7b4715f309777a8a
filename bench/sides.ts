import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBareForms, startRoundTrips } from './baselines.ts'
import { startProduct } from './product.ts'
import type { Operation } from './requests.ts'
import type { Side } from './side.ts'

export interface Sides extends AsyncDisposable {
  /** Those that have so many forms: the product, and at the smallest size the baselines. */
  at(forms: number): Side[]
}

export interface SidesOptions {
  sizes: readonly number[]
  operations: readonly Operation[]
  /** `mongodb://…/NAME`: databases that begin with the name are made and dropped. */
  storeUrl?: string
  /** Where the services of the smallest size write their CPU profiles. */
  profiles?: string
}

/** Everything that is measured, each on data of its own in a folder that is removed in the end. */
export const startSides = async ({ sizes, operations, storeUrl, profiles }: SidesOptions): Promise<Sides> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const subfolder = (name: string) => {
    const path = join(folder, name)
    mkdirSync(path)
    return path
  }
  const database = (name: string) => {
    if (!storeUrl) return {}
    const url = databaseUrl(storeUrl, name)
    stack.defer(() => dropDatabase(url))
    return { storeUrl: url }
  }

  const sides = new Map<number, Side[]>()
  for (const forms of sizes) {
    const isFirst = forms === sizes[0]
    const product = await startProduct({
      name: 'product',
      folder: subfolder(`product-${forms}`),
      forms,
      ...database(`${forms}`),
      ...(isFirst && profiles && { profiles }),
    })
    stack.use(product)
    sides.set(forms, [product])
  }

  const forms = Math.min(...sizes)
  const bare = await startBareForms(subfolder('bare'), forms)
  for (const side of bare) stack.use(side)
  sides.get(forms)!.push(...bare)
  if (operations.includes('publish')) {
    const three = await startProduct({
      name: 'three',
      folder: subfolder('three'),
      forms,
      publishers: 3,
      operations: ['publish'],
      ...database('three'),
    })
    stack.use(three)
    const roundTrips = await startRoundTrips(subfolder('round-trips'))
    stack.use(roundTrips)
    sides.get(forms)!.push(three, roundTrips)
  }

  const started = stack.move()
  return {
    at: (forms) => sides.get(forms)!,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const databaseUrl = (storeUrl: string, name: string): string => {
  const url = new URL(storeUrl)
  url.pathname = `/${url.pathname.slice(1) || 'bench'}-${process.pid}-${name}`
  return url.href
}

const dropDatabase = async (url: string): Promise<void> => {
  const { MongoClient } = await import('mongodb')
  await using client = new MongoClient(url)
  await client.db().dropDatabase()
}
