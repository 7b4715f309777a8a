import { randomUUID } from 'node:crypto'
import { checkFilter, parseFilter } from '@fms/aip'
import { FormType, formOrderFields } from '@fms/contracts'
import { startMongo } from '@fms/testkit/mongodb'
import { type CommandStartedEvent, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { givenForm, publish, refOf, time } from '../contract/given.ts'
import type { FormsStore, ListFormsQuery, StoredForm } from '../forms-store.ts'
import { type FormOrderTerm, formFilterFields } from '../lists/form-fields.ts'
import { migrateFormsStore, openFormsStore } from '../open-forms-store.ts'
import { formIndexes, formsSchema } from './schema.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const mongo = await startMongo()
const explaining = new MongoClient(mongo.url)
afterAll(async () => {
  await explaining.close()
  await mongo[Symbol.asyncDispose]()
})

/** Whether `explain` shows everything. secantusdb reads an index but never stops at the limit. */
const isMongod = mongo.engine.startsWith('MongoDB')

const check = (text: string) => checkFilter(parseFilter(text)!, formFilterFields)

type Command = Record<string, unknown>

/** A read that the store has sent, and the engine's plan. */
interface Read {
  command: 'find' | 'aggregate'
  collection: string
  query: Record<string, unknown>
  sort: Record<string, 1 | -1>
  /** Index that the command names. */
  hint: string | undefined
  /** Fields that it reads; undefined for whole documents. */
  projection: string[] | undefined
  plan: Plan | undefined
}

interface Plan {
  stages: string[]
  index: string | undefined
  keysExamined: number
  docsExamined: number
}

const started: CommandStartedEvent[] = []
const clients: MongoClient[] = []
let store: FormsStore
let organizationId: string
let forms: StoredForm[]

beforeAll(async () => {
  const { db } = MongoClient.prototype
  vi.spyOn(MongoClient.prototype, 'db').mockImplementation(function (this: MongoClient, ...args) {
    if (!clients.includes(this)) this.on('commandStarted', (event) => started.push(event))
    clients.push(this)
    return db.apply(this, args)
  })
  await migrateFormsStore(mongo.url)
  const separator = mongo.url.includes('?') ? '&' : '?'
  store = await openFormsStore(`${mongo.url}${separator}monitorCommands=true`)
  organizationId = randomUUID()
  forms = []
  for (let index = 0; index < 40; index++) {
    const draft = { name: `Survey ${index % 7}`, type: FormType.options[index % 2]! }
    forms.push(
      await givenForm(store, { organizationId, createTime: time(index), updateTime: time(index % 9), draft }),
    )
  }
  for (let index = 0; index < 5; index++) await givenForm(store)
  return () => store.close()
})

/** The reads of forms, revisions and replies that `work` sends, with their plans. */
const readsOf = async (work: () => Promise<unknown>): Promise<Read[]> => {
  started.length = 0
  await work()
  const reads = started.filter(
    ({ commandName, command }) =>
      ['find', 'aggregate'].includes(commandName) &&
      ['forms', 'revisions', 'replies'].includes(command[commandName]),
  )
  return Promise.all(reads.map(({ commandName, command }) => toRead(commandName, command)))
}

const toRead = async (name: string, command: Command): Promise<Read> => {
  const pipeline = (command.pipeline ?? []) as Record<string, never>[]
  const stage = (name: string) => pipeline.find((each) => name in each)?.[name]
  const projection = (command.projection ?? stage('$project')) as object | undefined
  return {
    command: name as Read['command'],
    collection: command[name] as string,
    query: (command.filter ?? stage('$match')) as Record<string, unknown>,
    sort: (command.sort ? Object.fromEntries(command.sort as never) : (stage('$sort') ?? {})) as Read['sort'],
    hint: command.hint as string | undefined,
    projection: projection && Object.keys(projection),
    plan: await explain(name, command),
  }
}

const explain = async (name: string, command: Command): Promise<Plan> => {
  const { lsid, $db, $clusterTime, $readPreference, maxTimeMS, readConcern, txnNumber, ...rest } = command
  await using client = new MongoClient(mongo.url)
  const found = await client
    .db()
    .command({ explain: { [name]: rest[name], ...rest }, verbosity: 'executionStats' })
  const text = JSON.stringify(found.queryPlanner?.winningPlan ?? found.stages)
  const stats = found.executionStats ?? found.stages?.[0]?.$cursor?.executionStats
  return {
    stages: [...text.matchAll(/"stage":"(\w+)"/g)].map(([, stage]) => stage!),
    index: /"indexName":"(\w+)"/.exec(text)?.[1],
    keysExamined: stats.totalKeysExamined,
    docsExamined: stats.totalDocsExamined,
  }
}

const keyOf = (index: string | undefined) => {
  const found = formsSchema.indexes.find(({ name }) => name === index)
  if (!found) throw new Error(`The schema has no index ${index}`)
  return found.key
}

/** Whether an index has a sort, forwards or backwards, after the fields that the query fixes. */
const hasOrder = (index: string | undefined, { query, sort }: Read): boolean => {
  const isFixed = (field: string) =>
    field in query && (typeof query[field] !== 'object' || '$eq' in (query[field] as object))
  const key = Object.entries(keyOf(index)).filter(([field]) => !isFixed(field))
  const order = Object.entries(sort).filter(([field]) => !isFixed(field))
  const factors = order.map(([field, direction], position) =>
    key[position]?.[0] === field ? direction * key[position]![1] : 0,
  )
  return new Set(factors).size <= 1 && !factors.includes(0)
}

/** Whether an index has all fields that a read needs, so that no document is read. */
const covers = (index: string | undefined, { query, sort, projection = [] }: Read): boolean => {
  const queried = JSON.stringify(query).matchAll(/"(\w+)":/g)
  const needed = [...Object.keys(sort), ...projection, ...[...queried].map(([, name]) => name!)]
  return needed.every((name) => name in keyOf(index) || name === '_id')
}

const limit = 3

/** The index that has all fields of filters and orders. */
const byType = formIndexes.byType.name

const listed = (orderBy: FormOrderTerm[], filter?: string, after?: ListFormsQuery['after']) =>
  store.list({
    organizationId,
    orderBy,
    limit,
    skip: 0,
    ...(filter && { filter: check(filter) }),
    ...(after && { after }),
  })

const singleOrders: [string, FormOrderTerm[], string][] = [
  ['the default order', [], 'forms_by_updateTime_desc'],
  ...formOrderFields.flatMap((field) =>
    [false, true].map((descending): [string, FormOrderTerm[], string] => [
      `${field}${descending ? ' desc' : ''}`,
      [{ field, descending }],
      field === 'publicId' ? 'forms_by_publicId' : `forms_by_${field}`,
    ]),
  ),
]

describe('the requests of a list on MongoDB', () => {
  /** Checks what every engine shows: the index that the request names, and the organization in its query. */
  const expectIndex = (read: Read, index: string) => {
    expect(read.query).toMatchObject({ organizationId })
    expect(read.hint).toBe(index)
    if (!read.plan) return
    expect(read.plan).toMatchObject({ index })
    expect(read.plan.stages).not.toContain('COLLSCAN')
  }

  const expectPage = (read: Read, index: string) => {
    expectIndex(read, index)
    expect(read.command).toBe('find')
    expect(hasOrder(index, read)).toBe(true)
    if (!isMongod) return
    expect(read.plan!.stages).not.toContain('SORT')
    expect(read.plan!.keysExamined).toBeLessThanOrEqual(2 * (limit + 1))
    expect(read.plan!.docsExamined).toBeLessThanOrEqual(limit + 1)
  }

  it.each(singleOrders)(
    'by %s read a page in the order of one index, and count nothing',
    async (_, orderBy, index) => {
      const { next } = await listed(orderBy)

      const [first, ...others] = await readsOf(() => listed(orderBy))
      expectPage(first!, index)
      expect(others).toEqual([])

      // Ties with the last form, then everything after it: one range each.
      const ranges = await readsOf(() => listed(orderBy, undefined, next))
      expect(ranges.length).toBeLessThanOrEqual(2)
      for (const read of ranges) expectPage(read, index)
    },
  )

  it('of two fields sort entries of the covering index, and read the documents of a page at once', async () => {
    const orderBy: FormOrderTerm[] = [
      { field: 'name', descending: false },
      { field: 'updateTime', descending: true },
    ]
    const [entries, documents, ...others] = await readsOf(() => listed(orderBy))

    expectIndex(entries!, byType)
    expect(covers(byType, entries!)).toBe(true)
    if (isMongod) expect(entries!.plan!.docsExamined).toBe(0)
    expect(Object.keys(documents!.query)).toEqual(['organizationId', 'isDeleted', '_id'])
    expect((documents!.query._id as { $in: string[] }).$in).toHaveLength(limit + 1)
    expect(documents!.plan?.stages ?? []).not.toContain('COLLSCAN')
    expect(others).toEqual([])
  })

  it.each<[string, FormOrderTerm[], string | undefined]>([
    ['in the order of an index', [], undefined],
    [
      'of two fields',
      [
        { field: 'name', descending: false },
        { field: 'updateTime', descending: true },
      ],
      undefined,
    ],
    ['with a filter', [], 'type = dynamic'],
    ['with a search', [], 'search("survey")'],
  ])('without drafts read none, %s', async (_, orderBy, text) => {
    const query: ListFormsQuery = {
      organizationId,
      orderBy,
      limit,
      skip: 0,
      ...(text && { filter: check(text) }),
    }
    const reads = await readsOf(() => store.listSummaries(query))

    const finds = reads.filter(({ command }) => command === 'find')
    expect(finds).toHaveLength(1)
    for (const { projection } of finds) {
      expect(projection).toContain('liveRevisionId')
      expect(projection).not.toContain('draft')
    }
  })

  it.each([
    ['type = dynamic', [], byType, byType],
    ['updateTime < 2030-01-01T00:00:00Z', [], 'forms_by_updateTime_desc', 'forms_by_updateTime'],
    [
      'createTime > 2020-01-01T00:00:00Z',
      [{ field: 'createTime', descending: true }],
      'forms_by_createTime',
      'forms_by_createTime',
    ],
    ['name < "Survey 3"', [{ field: 'name', descending: false }], 'forms_by_name', 'forms_by_name'],
  ] as [string, FormOrderTerm[], string, string][])(
    'with %s read a page in the order of one index, and count on a covering index',
    async (filter, orderBy, page, count) => {
      const reads = await readsOf(() => listed(orderBy, filter))
      const counting = reads.find(({ command }) => command === 'aggregate')!
      const paging = reads.find(({ command }) => command === 'find')!

      expect(reads).toHaveLength(2)
      expectPage(paging, page)
      expectIndex(counting, count)
      expect(covers(count, counting)).toBe(true)
      if (isMongod) expect(counting.plan!.docsExamined).toBe(0)
    },
  )

  it.each([
    ['type = dynamic', [{ field: 'name', descending: false }], byType, true],
    ['createTime > 2020-01-01T00:00:00Z', [], byType, true],
    ['search("su")', [], byType, true],
    ['name:"vey 3"', [], 'forms_by_nameTrigrams', false],
    ['search("survey 3") AND type = dynamic', [], 'forms_by_nameTrigrams', false],
  ] as [string, FormOrderTerm[], string, boolean][])(
    'with %s in another order sort fields instead of documents',
    async (filter, orderBy, index, isCovered) => {
      const reads = await readsOf(() => listed(orderBy, filter))
      const [entries] = reads.filter(({ sort }) => Object.keys(sort).length > 0)

      expectIndex(entries!, index)
      expect(entries!.command).toBe('aggregate')
      expect(covers(index, entries!)).toBe(isCovered)
      for (const { plan, query } of reads) {
        expect(query).toMatchObject({ organizationId })
        expect(plan?.stages ?? [], JSON.stringify(query)).not.toContain('COLLSCAN')
      }
    },
  )

  it('with publicId = … look the form up', async () => {
    const reads = await readsOf(() => listed([], `publicId = ${forms[0]!.publicId}`))

    for (const read of reads) {
      expect(read.query).toMatchObject({ organizationId })
      expect(['forms_by_publicId', 'forms_by_id']).toContain(read.hint)
      if (isMongod) expect(read.plan!.keysExamined).toBeLessThanOrEqual(2)
    }
  })

  it('of revisions use the index of the form', async () => {
    const form = forms[0]!
    for (let count = 0; count < 5; count++) await publish(store, form)

    const reads = await readsOf(() => store.listRevisions({ ...refOf(form), limit, skip: 0 }))

    for (const { query, plan } of reads) {
      expect(query).toMatchObject({ organizationId })
      expect(plan?.stages ?? []).not.toContain('COLLSCAN')
      if (isMongod) expect(plan!.stages).not.toContain('SORT')
    }
  })

  it('of counted replies use indexes of the organization', async () => {
    const form = forms[1]!
    const reads = await readsOf(() => store.recordReplies({ ...form, replyIds: [randomUUID()] }))

    expect(reads).toHaveLength(2)
    for (const { query, plan } of reads) {
      expect(query).toHaveProperty('organizationId')
      expect(plan?.stages ?? []).not.toContain('COLLSCAN')
    }
  })
})
