/**
 * `npm run bench:mongodb-size`: measures the lists of a small and of a large organization on MongoDB through the
 * store's port, and shows the plan of each query.
 */
import { writeFileSync } from 'node:fs'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { ApiError, type CheckedFilter } from '@fms/aip'
import { type FormOrderTerm, type ListFormsQuery, openFormsStore } from '@fms/forms-store'
import { startMongo, type TestMongodb } from '@fms/testkit/mongodb'
import { describeCommand, recordMongodb } from '@fms/testkit/mongodb-recorder'
import { type Document, MongoClient } from 'mongodb'
import { z } from 'zod'
import { type StoredOrganization, seedOrganization } from './data/fill-mongodb.ts'
import { formIdOf, formTimeOf, prefixOf, wordOf } from './data/generated-forms.ts'
import { explain, type QueryPlan } from './report/query-plan.ts'
import { figure, type Table, toMarkdown, toText } from './report/tables.ts'
import { positive, runCommand } from './run-command.ts'

const usage = `npm run bench:mongodb-size -- [OPTION…]

  --forms N       forms of the large organization (default: 1000000)
  --few N         forms of the small organization (default: 1000)
  --calls N       calls of each operation for each size (default: 200)
  --seconds N     ends an operation earlier (default: 20)
  --table PATH    also writes the table to a file
`

const optionSchemas = {
  forms: positive.int().default(1_000_000),
  few: positive.int().default(1_000),
  calls: positive.int().default(200),
  seconds: positive.int().default(20),
  table: z.string().optional(),
}
type Options = z.infer<z.ZodObject<typeof optionSchemas>>

/** One call of the store's port with random parameters. */
type Call = (organization: StoredOrganization) => Promise<unknown>

const list =
  (queryOf: (forms: number) => Partial<ListFormsQuery>): Call =>
  ({ store, organizationId, forms }) =>
    store.list({ organizationId, orderBy: [], limit: 10, skip: 0, ...queryOf(forms) })

const filtered = (filterOf: (random: number) => CheckedFilter): Call =>
  list((forms) => ({ filter: filterOf(Math.floor(Math.random() * forms)) }))

const ordered = (...orderBy: FormOrderTerm[]): Call => list(() => ({ orderBy }))

const ascending = (field: FormOrderTerm['field']): FormOrderTerm => ({ field, descending: false })
const descending = (field: FormOrderTerm['field']): FormOrderTerm => ({ field, descending: true })

/** Operations on an organization by their names. Each list also returns its total. */
const storeOperations: Record<string, Call> = {
  get: ({ store, organizationId, forms }) =>
    store.get({ organizationId, formRef: formIdOf(Math.floor(Math.random() * forms)) }),
  usage: ({ store, organizationId }) => store.usage(organizationId),
  list: list(() => ({})),
  'list, from the middle': list((forms) => ({ after: [formTimeOf(Math.floor(forms / 2)), ''] })),
  'list, one form': list(() => ({ limit: 1 })),
  'order: name': ordered(ascending('name')),
  'order: createTime desc': ordered(descending('createTime')),
  'order: replyCount desc': ordered(descending('replyCount')),
  'order: name, createTime desc': ordered(ascending('name'), descending('createTime')),
  'order: replyCount desc, updateTime': ordered(descending('replyCount'), ascending('updateTime')),
  'name = "prefix*" (10 forms)': filtered((number) => ({
    kind: 'match',
    field: 'name',
    parts: [prefixOf(number), ''],
  })),
  'search("word") (10 forms)': filtered((number) => ({
    kind: 'search',
    field: 'name',
    text: wordOf(number),
  })),
  'name:"word" (10 forms)': filtered((number) => ({ kind: 'contains', field: 'name', text: wordOf(number) })),
  'updateTime >= t (10 forms)': list((forms) => ({
    filter: { kind: 'compareTime', field: 'updateTime', operator: '>=', epochMs: formTimeOf(forms - 10) },
  })),
  'type = dynamic (none)': filtered(() => ({
    kind: 'compare',
    field: 'type',
    operator: '=',
    value: 'dynamic',
  })),
  'type = structured (all)': filtered(() => ({
    kind: 'compare',
    field: 'type',
    operator: '=',
    value: 'structured',
  })),
  'updateTime >= t (half)': list((forms) => ({
    filter: { kind: 'compareTime', field: 'updateTime', operator: '>=', epochMs: formTimeOf(forms / 2) },
  })),
}

/** Interval of the progress notes, in forms. */
const noteEvery = 20_000

const seed = async (engine: TestMongodb, name: string, forms: number): Promise<StoredOrganization> => {
  const startedAt = performance.now()
  const noteProgress = (added: number) =>
    note(`${added} forms after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  const organization = await seedOrganization(engine, name, forms, (added) => {
    if (added % noteEvery === 0) noteProgress(added)
  })
  noteProgress(forms)
  return organization
}

const note = (text: string) => process.stderr.write(`${text}\n`)

/** Response times of one operation in microseconds, or the reason of its first error. */
interface Timing {
  times: RecordableHistogram
  failure?: string
}

/** Calls an operation on all organizations in turn, so that a slowdown of the machine affects all of them. */
const measure = async (
  call: Call,
  organizations: readonly StoredOrganization[],
  { calls, seconds }: Options,
): Promise<Timing[]> => {
  const timings = organizations.map((): Timing => ({ times: createHistogram() }))
  const end = performance.now() + seconds * 1000
  for (const each of organizations) await call(each).catch(() => {})
  for (let number = 0; number < calls && performance.now() < end; number++)
    for (const [index, organization] of organizations.entries())
      await measureOnce(call, organization, timings[index]!)
  return timings
}

const measureOnce = async (call: Call, organization: StoredOrganization, timing: Timing): Promise<void> => {
  if (timing.failure) return
  const startedAt = performance.now()
  try {
    await call(organization)
    timing.times.record(Math.max(1, Math.round((performance.now() - startedAt) * 1000)))
  } catch (error) {
    timing.failure = error instanceof ApiError ? error.reason : `${error}`
  }
}

/** The plans of the queries of one call, as text. */
const plansOf = async (
  call: Call,
  { url, ...organization }: StoredOrganization,
  executes: boolean,
): Promise<string> => {
  await using recorder = await recordMongodb(url)
  await using store = await openFormsStore(recorder.url)
  await store.ping()
  recorder.take()
  await call({ ...organization, url, store }).catch(() => {})
  await using client = new MongoClient(url)
  const plans: string[] = []
  for (const command of recorder.take().filter(isQuery))
    plans.push(textOf(command, await explain(client.db(), command, executes)))
  return plans.join('; ')
}

const textOf = (command: Document, plan: QueryPlan | undefined): string => {
  const { stages, keys, documents } = plan ?? { stages: 'no explain' }
  const counts = keys === undefined ? '' : ` (${keys} keys, ${documents} documents)`
  return `${describeCommand(command)}: ${stages}${counts}`
}

/** Reads of one document by its id are left out, and so is the clearing of deleted forms. */
const isQuery = (command: Document) =>
  (command.find === 'forms' && command.filter._id === undefined) ||
  command.aggregate === 'forms' ||
  command.count === 'forms'

const tableOf = (organizations: readonly StoredOrganization[], rows: readonly string[][]): Table => {
  const [few, many] = organizations.map(({ forms }) => forms.toLocaleString('en-US'))
  return {
    columns: ['operation', 'plans', `p50 ms, ${few}`, many!, `p99 ms, ${few}`, many!, 'ratio of p99'],
    rows: [...rows],
    textColumns: 2,
  }
}

const rowOf = (name: string, plans: string, [few, many]: readonly Timing[]): string[] => {
  const ms = ({ times, failure }: Timing, percentile: number) =>
    failure ?? figure(times.percentile(percentile) / 1000)
  const ratio = many!.failure ? undefined : many!.times.percentile(99) / few!.times.percentile(99)
  return [name, plans, ms(few!, 50), ms(many!, 50), ms(few!, 99), ms(many!, 99), figure(ratio)]
}

const measureSizes = async (options: Options): Promise<void> => {
  await using mongodb = await startMongo()
  note(`filling ${mongodb.engine} ...`)
  await using few = await seed(mongodb, 'few', options.few)
  await using many = await seed(mongodb, 'many', options.forms)
  const organizations = [few, many]
  const executes = !mongodb.engine.startsWith('secantusdb')
  const rows: string[][] = []
  for (const [name, call] of Object.entries(storeOperations)) {
    note(name)
    const timings = await measure(call, organizations, options)
    rows.push(rowOf(name, await plansOf(call, many, executes), timings))
  }
  const table = tableOf(organizations, rows)
  process.stdout.write(`${mongodb.engine}\n\n${toText(table)}\n`)
  if (options.table) writeFileSync(options.table, `${toMarkdown(table)}\n`)
}

await runCommand('npm run bench:mongodb-size', usage, optionSchemas, measureSizes)
