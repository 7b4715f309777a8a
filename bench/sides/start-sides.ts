import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '../load/requests.ts'
import type { Side } from './side.ts'
import { startBareForms, startRoundTrips } from './start-baselines.ts'
import { type ProductOptions, startProduct } from './start-product.ts'

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
  const start = async (name: string, options: Omit<ProductOptions, 'folder' | 'storeUrl'>) => {
    const database = storeUrl && databaseUrl(storeUrl, name)
    if (database) stack.defer(() => dropDatabase(database))
    const subfolder = createFolder(folder, `product-${name}`)
    return stack.use(
      await startProduct({ ...options, folder: subfolder, ...(database && { storeUrl: database }) }),
    )
  }

  const sides = new Map<number, Side[]>()
  for (const forms of sizes) {
    const isProfiled = forms === sizes[0] && profiles
    const product = await start(`${forms}`, { name: 'product', forms, ...(isProfiled && { profiles }) })
    sides.set(forms, [product])
  }
  const forms = Math.min(...sizes)
  const baselines = await startBareForms(createFolder(folder, 'bare'), forms)
  for (const side of baselines) stack.use(side)
  sides.get(forms)!.push(...baselines)
  if (operations.includes('publish')) {
    const three = await start('three', { name: 'three', forms, publishers: 3, operations: ['publish'] })
    const roundTrips = stack.use(await startRoundTrips(createFolder(folder, 'round-trips')))
    sides.get(forms)!.push(three, roundTrips)
  }

  const started = stack.move()
  return {
    at: (forms) => sides.get(forms)!,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const createFolder = (parent: string, name: string): string => {
  const path = join(parent, name)
  mkdirSync(path)
  return path
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
