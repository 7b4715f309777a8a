import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongo } from '@fms/testkit/mongodb'
import type { Operation } from '../load/requests.ts'
import type { Side } from './side.ts'
import { databaseUrl, dropDatabase, startBareMongodb } from './start-bare-mongodb.ts'
import { startBareForms, startRoundTrips } from './start-baselines.ts'
import { type ProductOptions, startProduct } from './start-product.ts'

export interface Sides extends AsyncDisposable {
  /** The sides with this number of forms: the product, and at the smallest size the baselines. */
  at(forms: number): Side[]
  /** The engine of the product's stores. */
  engine: string
}

export interface SidesOptions {
  sizes: readonly number[]
  operations: readonly Operation[]
  store: 'sqlite' | 'mongodb'
  /** Folder in which the services of the first size write their CPU profiles. */
  profiles?: string
}

/** Starts every side on its own data, in a folder that is removed at the end. */
export const startSides = async ({ sizes, operations, store, profiles }: SidesOptions): Promise<Sides> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const mongodb = store === 'mongodb' ? stack.use(await startMongo()) : undefined
  const start = async (name: string, options: Omit<ProductOptions, 'folder' | 'mongodb'>) => {
    const subfolder = createFolder(folder, `product-${name}`)
    if (!mongodb) return stack.use(await startProduct({ ...options, folder: subfolder }))
    const url = databaseUrl(mongodb.url, name)
    stack.defer(() => dropDatabase(mongodb, url))
    return stack.use(
      await startProduct({ ...options, folder: subfolder, mongodb: { url, pid: mongodb.pid } }),
    )
  }

  const sides = new Map<number, Side[]>()
  for (const forms of sizes) {
    const isProfiled = forms === sizes[0] && profiles
    const product = await start(`${forms}`, { name: 'product', forms, ...(isProfiled && { profiles }) })
    sides.set(forms, [product])
  }
  const forms = Math.min(...sizes)
  const baselines = mongodb
    ? [await startBareMongodb(mongodb, forms)]
    : await startBareForms(createFolder(folder, 'bare'), forms)
  for (const side of baselines) stack.use(side)
  sides.get(forms)!.push(...baselines)
  if (!mongodb && operations.includes('publish')) {
    const three = await start('three', { name: 'three', forms, publishers: 3, operations: ['publish'] })
    const roundTrips = stack.use(await startRoundTrips(createFolder(folder, 'round-trips')))
    sides.get(forms)!.push(three, roundTrips)
  }

  const started = stack.move()
  return {
    at: (forms) => sides.get(forms)!,
    engine: mongodb?.engine ?? 'SQLite',
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const createFolder = (parent: string, name: string): string => {
  const path = join(parent, name)
  mkdirSync(path)
  return path
}
