/**
 * Program M: bare Fastify with the MongoDB driver, as a good engineer writes it in an hour. No authentication, no
 * validation, no log, no quota, no repeated publishes, the same durability as the product and no lost updates. Stores
 * each document as the JSON text of its response.
 */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { MongoClient } from 'mongodb'
import {
  type BareDraft,
  type BareForm,
  type BareRevision,
  bareFields,
  bareForm,
} from '../data/bare-mongodb.ts'

const client = new MongoClient(process.argv[2]!, { w: 'majority', journal: true })
const forms = client.db().collection<BareForm>('forms')
const revisions = client.db().collection<BareRevision>('revisions')

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
    const ids = { organizationId: request.params.organization, formId: randomUUID(), publicId }
    const form = bareForm(ids, request.body.form, Date.now())
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

process.send!({ origin: await app.listen({ host: '127.0.0.1', port: 0 }) })
