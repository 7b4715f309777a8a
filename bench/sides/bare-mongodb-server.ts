/**
 * Program M: bare Fastify with the MongoDB driver, as a good engineer writes it in an hour. No authentication, no
 * validation, no log, no quota, no repeated publishes, the same durability as the product and no lost updates. Stores
 * each document as the JSON text of its response. Arguments: the URL of an empty database, the id of an organization, and
 * the number of its forms, with which the program fills it first.
 */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { type Db, MongoClient } from 'mongodb'
import { trigramsOf } from '../../libs/forms-store/src/lists/name-trigrams.ts'
import { formsSchema } from '../../libs/forms-store/src/mongodb/schema.ts'
import { bareForm, draftOf, formIdOf } from '../load/generated-forms.ts'

/** A form: the JSON text of its response, and the fields that are indexed. */
interface BareForm {
  /** The form's id. */
  _id: string
  organizationId: string
  publicId: string
  name: string
  foldedName: string
  nameTrigrams: string[]
  type: string
  createTime: number
  updateTime: number
  /** Counts the changes. An update names the version that was read. */
  version: number
  replyCount: number
  bytes: number
  liveRevisionId: string | null
  liveNumber: number
  document: string
}

/** A revision: the JSON text of the form as published, and the fields that are indexed. */
interface BareRevision {
  /** The revision's id. */
  _id: string
  organizationId: string
  formId: string
  commandId: string
  number: number
  bytes: number
  document: string
}

/** The members of a draft that the server knows. */
interface BareDraft {
  name: string
  type: string
}

/**
 * Creates the product's indexes of forms and revisions. None is unique, because the bare server handles no conflict.
 */
const createBareIndexes = async (database: Db): Promise<void> => {
  for (const { collection, name, key } of formsSchema.indexes) {
    if (['forms', 'revisions'].includes(collection))
      await database.collection(collection).createIndex(key, { name })
  }
}

/** The fields that a change of the draft sets. @param form the form as JSON, as its response has it. */
const bareFields = (form: BareDraft, updateTime: number) => {
  const document = JSON.stringify(form)
  const foldedName = form.name.toLowerCase()
  return {
    name: form.name,
    foldedName,
    nameTrigrams: trigramsOf(foldedName),
    type: form.type,
    updateTime,
    bytes: Buffer.byteLength(document),
    document,
  }
}

/** @param publicId ten characters, as in the product. */
const newForm = (
  organizationId: string,
  formId: string,
  publicId: string,
  draft: BareDraft,
  time: number,
): BareForm => ({
  _id: formId,
  organizationId,
  publicId,
  createTime: time,
  version: 1,
  replyCount: 0,
  liveRevisionId: null,
  liveNumber: 0,
  ...bareFields(bareForm(organizationId, formId, publicId, draft, time), time),
})

const [url, organizationOfForms, numberOfForms] = process.argv.slice(2) as [string, string, string]
const client = new MongoClient(url, { w: 'majority', journal: true })
const forms = client.db().collection<BareForm>('forms')
const revisions = client.db().collection<BareRevision>('revisions')

/** Documents of one insert. */
const batchSize = 500

/** Creates the indexes and `count` forms of an organization, with update times one second apart. */
const fill = async (organizationId: string, count: number): Promise<void> => {
  await createBareIndexes(client.db())
  const startTime = Date.now() - count * 1000
  for (let from = 0; from < count; from += batchSize) {
    const numbers = Array.from({ length: Math.min(batchSize, count - from) }, (_, index) => from + index)
    await forms.insertMany(
      numbers.map((number) => {
        const publicId = `${number}`.padStart(10, 'x')
        return newForm(organizationId, formIdOf(number), publicId, draftOf(number), startTime + number * 1000)
      }),
    )
  }
}

interface FormParams {
  organization: string
  form: string
}

const app = Fastify({ logger: false })

/** Finds a form by its `_id` alone: with another field in the query, secantusdb scans the collection. */
const find = async ({ organization, form }: FormParams) => {
  const found = await forms.findOne({ _id: form })
  return found?.organizationId === organization ? found : undefined
}

app.get<{ Params: FormParams }>('/v2/organizations/:organization/forms/:form', async (request, reply) => {
  const found = await find(request.params)
  if (!found) return reply.code(404).send({ error: 'not found' })
  return reply.type('application/json').send(found.document)
})

app.get<{ Params: FormParams; Querystring: { pageSize: string } }>(
  '/v2/organizations/:organization/forms',
  async (request, reply) => {
    const found = await forms
      .find({ organizationId: request.params.organization })
      .sort({ updateTime: -1, publicId: 1 })
      // secantusdb prefers another index, and sorts.
      .hint('forms_by_updateTime_desc')
      .limit(Number(request.query.pageSize))
      .toArray()
    const documents = found.map(({ document }) => document)
    return reply.type('application/json').send(`{"forms":[${documents.join(',')}]}`)
  },
)

app.post<{ Params: FormParams; Body: { form: BareDraft } }>(
  '/v2/organizations/:organization/forms',
  async (request, reply) => {
    const publicId = randomUUID().slice(-10)
    const { organization } = request.params
    const form = newForm(organization, randomUUID(), publicId, request.body.form, Date.now())
    await forms.insertOne(form)
    return reply.type('application/json').send(form.document)
  },
)

/** Changes a form unless another request changes it meanwhile; then reads it again. */
const update = async (params: FormParams, change: (found: BareForm) => Partial<BareForm>) => {
  for (;;) {
    const found = await find(params)
    if (!found) return undefined
    const { _id, organizationId, version } = found
    const fields = { ...change(found), version: version + 1 }
    const { matchedCount } = await forms.updateOne({ organizationId, _id, version }, { $set: fields })
    if (matchedCount === 1) return { ...found, ...fields }
  }
}

app.patch<{ Params: FormParams; Body: { form: Partial<BareDraft> } }>(
  '/v2/organizations/:organization/forms/:form',
  async (request, reply) => {
    const changed = await update(request.params, ({ document }) => {
      const now = new Date()
      const form = { ...JSON.parse(document), ...request.body.form, updateTime: now.toISOString() }
      return bareFields(form, now.getTime())
    })
    if (!changed) return reply.code(404).send({ error: 'not found' })
    return reply.type('application/json').send(changed.document)
  },
)

app.post<{ Params: FormParams }>(
  '/v2/organizations/:organization/forms/:form/publish',
  async (request, reply) => {
    const found = await find(request.params)
    if (!found) return reply.code(404).send({ error: 'not found' })
    const { _id: formId, organizationId } = found
    const [revisionId, commandId, number] = [randomUUID(), randomUUID(), Date.now()]
    const document = JSON.stringify({ ...JSON.parse(found.document), live: true })
    const bytes = Buffer.byteLength(document)
    await revisions.insertOne({ _id: revisionId, organizationId, formId, commandId, number, bytes, document })
    const live = { liveRevisionId: revisionId, liveNumber: number }
    await forms.updateOne({ organizationId, _id: formId, liveNumber: { $lt: number } }, { $set: live })
    return reply.type('application/json').send(document)
  },
)

await fill(organizationOfForms, Number(numberOfForms))
process.send!({ origin: await app.listen({ host: '127.0.0.1', port: 0 }) })
