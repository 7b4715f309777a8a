import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '../load/requests.ts'
import type { Side } from './side.ts'
import { startBareForms, startRoundTrips } from './start-baselines.ts'
import { startProduct } from './start-product.ts'

export interface Sides extends AsyncDisposable {
  /** The sides with this number of forms: the product, and at the smallest size the baselines. */
  at(forms: number): Side[]
}

export interface SidesOptions {
  sizes: readonly number[]
  operations: readonly Operation[]
  /** `mongodb://…/NAME`: databases whose names begin with NAME are created and dropped. Default: SQLite. */
  storeUrl?: string
  /** Folder in which the services of the first size write their CPU profiles. */
  profiles?: string
}

/** Starts every side on its own data, in a folder that is removed at the end. */
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
