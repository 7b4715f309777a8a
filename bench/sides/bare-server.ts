/**
 * Program B0: bare Fastify on `node:sqlite`, as a good engineer writes it in an hour. No authentication, no validation,
 * no log, the same durability as the product. Stores each document as the JSON text of its response.
 *
 * With the origin of B0 instead of a file, it is program B1: `@fastify/http-proxy` as its README shows it, in front of B0.
 */
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'

interface FormParams {
  organization: string
  form: string
}
interface ListQuery {
  pageSize: string
  namePrefix?: string
  nameContains?: string
}
type Form = Record<string, unknown> & { name: string }

const app = Fastify({ logger: false })

const serveForms = (file: string) => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA synchronous = FULL')

  const byId = database.prepare('SELECT document FROM forms WHERE id = ? AND organizationId = ?')
  const latest = database.prepare(
    'SELECT document FROM forms WHERE organizationId = ? ORDER BY updateTime DESC, id LIMIT ?',
  )
  const byPrefix = database.prepare(
    'SELECT document FROM forms WHERE organizationId = ? AND name >= ? AND name < ? ORDER BY updateTime DESC, id LIMIT ?',
  )
  const bySubstring = database.prepare(
    "SELECT document FROM forms WHERE organizationId = ? AND name LIKE '%' || ? || '%' ORDER BY updateTime DESC, id LIMIT ?",
  )
  const liveRevision = database.prepare(
    'SELECT etag, document FROM liveRevisions WHERE formId = ? AND organizationId = ?',
  )
  const insert = database.prepare('INSERT INTO forms VALUES (?, ?, ?, ?, ?)')
  const update = database.prepare('UPDATE forms SET name = ?, updateTime = ?, document = ? WHERE id = ?')

  app.get<{ Params: FormParams }>('/v2/organizations/:organization/forms/:form', (request, reply) => {
    const row = byId.get(request.params.form, request.params.organization)
    if (!row) return reply.code(404).send({ error: 'not found' })
    return reply.type('application/json').send(row.document)
  })

  app.get<{ Params: FormParams }>(
    '/v2/organizations/:organization/forms/:form/revisions/live',
    (request, reply) => {
      const row = liveRevision.get(request.params.form, request.params.organization)
      if (!row) return reply.code(404).send({ error: 'not found' })
      reply.header('etag', row.etag)
      if (request.headers['if-none-match'] === row.etag) return reply.code(304).send()
      return reply.type('application/json').send(row.document)
    },
  )

  app.get<{ Params: FormParams; Querystring: ListQuery }>(
    '/v2/organizations/:organization/forms',
    (request, reply) => {
      const { organization } = request.params
      const { pageSize, namePrefix, nameContains } = request.query
      const limit = Number(pageSize)
      const rows =
        namePrefix !== undefined
          ? byPrefix.all(organization, namePrefix, `${namePrefix}\u{10ffff}`, limit)
          : nameContains !== undefined
            ? bySubstring.all(organization, nameContains, limit)
            : latest.all(organization, limit)
      const documents = rows.map(({ document }) => document)
      return reply.type('application/json').send(`{"forms":[${documents.join(',')}]}`)
    },
  )

  app.post<{ Params: FormParams; Body: { form: Form } }>(
    '/v2/organizations/:organization/forms',
    (request, reply) => {
      const id = randomUUID()
      const updateTime = Date.now()
      const document = JSON.stringify({ id, ...request.body.form, updateTime })
      insert.run(id, request.params.organization, request.body.form.name, updateTime, document)
      return reply.type('application/json').send(document)
    },
  )

  app.patch<{ Params: FormParams; Body: { form: Partial<Form> } }>(
    '/v2/organizations/:organization/forms/:form',
    (request, reply) => {
      const row = byId.get(request.params.form, request.params.organization)
      if (!row) return reply.code(404).send({ error: 'not found' })
      const updateTime = Date.now()
      const form = { ...JSON.parse(row.document as string), ...request.body.form, updateTime }
      const document = JSON.stringify(form)
      update.run(form.name, updateTime, document, request.params.form)
      return reply.type('application/json').send(document)
    },
  )
}

const source = process.argv[2]!
if (URL.canParse(source)) await app.register(httpProxy, { upstream: source })
else serveForms(source)
process.send!({ origin: await app.listen({ host: '127.0.0.1', port: 0 }) })
