import { startMongo } from '@fms/testkit/mongodb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { MongoCollection } from './mongodb-collection.ts'
import { MongoDatabase } from './mongodb-database.ts'
import { MongoList, type MongoListQuery } from './mongodb-list.ts'

// Engines for tests are slower than MongoDB.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

interface Item {
  _id: string
  shop: string
  rank: number
  price: number
}

const mongo = await startMongo()
const database = new MongoDatabase(mongo.url)
const items = database.collection<Item>('items')
afterAll(async () => {
  await database.close()
  await mongo[Symbol.asyncDispose]()
})

const index = {
  collection: 'items',
  name: 'items_by_rank',
  key: { shop: 1, rank: 1, price: 1, _id: 1 },
} as const

/** 60 items with few distinct ranks and prices. */
const stock: Item[] = Array.from({ length: 60 }, (_, number) => ({
  _id: `item ${`${number}`.padStart(2, '0')}`,
  shop: 'ours',
  rank: number % 3,
  price: number % 2,
}))

beforeAll(async () => {
  await database.createIndex(index)
  for (const item of [...stock, { ...stock[0]!, _id: 'other', shop: 'theirs' }]) await items.insert(item)
})

const order = [
  { field: 'rank', descending: true },
  { field: 'price', descending: false },
  { field: '_id', descending: false },
]
const inOrder = stock.toSorted(
  (one, other) => other.rank - one.rank || one.price - other.price || (one._id < other._id ? -1 : 1),
)
const positionOf = ({ rank, price, _id }: Item) => [rank, price, _id]

const query: MongoListQuery = {
  scope: { shop: 'ours' },
  fields: { rank: 'rank' },
  order,
  skip: 0,
  limit: 5,
}
const plan = { pageIndex: index.name, idIndex: '_id_', countIndex: index.name }

/** The first `count` items. */
const take = async (list: MongoList<Item>, count: number): Promise<Item[]> => {
  const taken: Item[] = []
  for await (const item of list.items()) if (taken.push(item) === count) break
  return taken
}

describe('MongoList', () => {
  it.each([
    ['documents', undefined],
    ['entries of an index', plan],
  ])('reads %s from any position and skips any number of items', async (_, plan) => {
    const page = fc.record({
      position: fc.nat(stock.length),
      skip: fc.nat(70),
      limit: fc.integer({ min: 1, max: 50 }),
    })
    await fc.assert(
      fc.asyncProperty(page, async ({ position, skip, limit }) => {
        const after = position > 0 ? positionOf(inOrder[position - 1]!) : undefined
        const list = new MongoList(items, { ...query, after, skip, limit, ...(plan && { plan }) })

        expect(await take(list, limit + 1)).toEqual(inOrder.slice(position + skip).slice(0, limit + 1))
      }),
      { numRuns: 20 },
    )
  })

  it('continues past items that are deleted after their entries were read', async () => {
    const deleted = inOrder.slice(1, 5).map(({ _id }) => _id)
    let reads = 0
    const racing = {
      findFields: items.findFields.bind(items),
      async *find(read: object, options: object) {
        if (++reads === 1) for (const _id of deleted) await items.deleteOne({ _id })
        yield* items.find(read, options)
      },
    } as unknown as MongoCollection<Item>
    try {
      const found = await take(new MongoList(racing, { ...query, plan }), 6)

      expect(found).toEqual(inOrder.filter(({ _id }) => !deleted.includes(_id)).slice(0, 6))
    } finally {
      for (const item of inOrder) if (deleted.includes(item._id)) await items.insert(item)
    }
  })

  it('leaves out an item that moves in the order after its entry was read', async () => {
    const [, , moved] = inOrder as [Item, Item, Item]
    const racing = {
      findFields: items.findFields.bind(items),
      async *find(read: object, options: object) {
        await items.set({ _id: moved._id }, { rank: -1 })
        yield* items.find(read, options)
      },
    } as unknown as MongoCollection<Item>
    try {
      const found = await take(new MongoList(racing, { ...query, plan }), 6)

      expect(found).toEqual(inOrder.filter((item) => item !== moved).slice(0, 6))
    } finally {
      await items.set({ _id: moved._id }, { rank: moved.rank })
    }
  })

  it('sends no request where nothing can match', async () => {
    const none = {} as MongoCollection<Item>
    const filter = { kind: 'constant', value: false } as const
    const list = new MongoList(none, { ...query, filter })

    expect(await take(list, 6)).toEqual([])
    expect(await list.count()).toBe(0)
  })

  it('filters before it skips', async () => {
    const parts = ['', 'i', 't', 'em ', '0', '']
    const list = new MongoList(items, {
      ...query,
      fields: { name: '_id' },
      filter: { kind: 'match', field: 'name', parts },
      plan,
      skip: 2,
    })

    const matches = inOrder.filter(({ _id }) => _id.includes('0'))
    expect(await take(list, 6)).toEqual(matches.slice(2, 8))
    expect(await list.count()).toBe(matches.length)
  })
})
