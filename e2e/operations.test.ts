import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPageTokens } from '@fms/aip'
import {
  allOperations,
  type NamedOperation,
  NoQuery,
  type Operation,
  type OperationId,
  operations,
  routePatternOf,
} from '@fms/contracts'
import type { App } from '@fms/service-kit'
import type { RouteOptions } from 'fastify'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Client, type ClientOptions, createClient, createSession } from '../libs/client/src/index.ts'
import { createFormsApp } from '../services/forms/src/app.ts'
import { createOrganizationsApp } from '../services/organizations/src/app.ts'

const root = join(import.meta.dirname, '..')

const options = {
  logger: pino({ level: 'silent' }),
  internalSecrets: ['a secret of the tests, long enough'],
  pageTokens: createPageTokens(['a secret of the tests, long enough']),
  now: () => new Date(),
}
const apps = {
  forms: () => createFormsApp({ ...options, forms: {} as never, publicFormBaseUrl: '' }),
  organizations: () => createOrganizationsApp({ ...options, directory: {} as never }),
}

/** The routes of an app, without those that Fastify adds for HEAD. */
const routesOf = async (app: App): Promise<RouteOptions[]> => {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') routes.push(route)
  })
  await app.ready()
  await app.close()
  return routes
}

/** The path in the service, which gets the organization's id instead of a reference. Sign-ins come from the gateway itself. */
const urlOf = (service: string, operation: NamedOperation) => {
  const pattern = routePatternOf(operation)
  if (operation.access === 'anyone') return `/internal${pattern}`
  return service === 'forms' ? pattern.replace(':organizationRef', ':organizationId') : pattern
}

it('every operation has tests that are named after it', () => {
  const named = globSync('services/**/*.test.ts', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/^describe\('([A-Z]+ \/[^' ]*)/gm)])
    .map(([, line]) => line!.replace('/v2/', '/').replace(/\{\w+\}/g, '{}'))
  const lines = allOperations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)

  expect(lines.filter((line) => !named.includes(line))).toEqual([])
})

describe.each(Object.entries(apps))('the service %s', (service, createApp) => {
  const operations = allOperations.filter((operation) => operation.service === service)

  it('has the routes of its operations, and internal ones', async () => {
    const routes = await routesOf(createApp())
    const ofOperations = operations.map((operation) => `${operation.method} ${urlOf(service, operation)}`)

    const all = routes.map(({ method, url }) => `${method} ${url}`)
    expect(all).toEqual(expect.arrayContaining(ofOperations))
    const others = all.filter((route) => !ofOperations.includes(route))
    expect(others.filter((route) => !/ \/(internal\/|healthz|readyz|metrics)/.test(route))).toEqual([])
  })

  it('validates them by their contracts', async () => {
    const routes = await routesOf(createApp())

    for (const operation of operations) {
      const { method, query = NoQuery, body, response } = operation
      const { schema } = routes.find(
        (route) => route.method === method && route.url === urlOf(service, operation),
      )!
      expect(schema?.body, operation.id).toBe(body)
      // Lists, and reads with a mask, parse their query in the route, and stored JSON is sent as it is.
      if (schema?.querystring !== undefined) expect(schema.querystring, operation.id).toBe(query)
      const sent = (schema?.response as { 200: z.ZodType } | undefined)?.[200]
      if (sent !== undefined) expect(z.toJSONSchema(sent)).toEqual(z.toJSONSchema(response.schema))
    }
  })
})

describe('the client', () => {
  const refs = {
    organizationRef: 'acme',
    formRef: 'Ab3dE6gH9j',
    revisionRef: '5a0e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e21',
    eventId: '0199f3a1-7c1e-7d53-9c4b-3f1c2a105a0e',
    keyId: '9d2e6a0f-3f0e-4bb6-8a54-0f6d3a1b9e33',
  }
  const { organizationRef: organization, formRef: form, revisionRef: revision, eventId, keyId } = refs
  const requestId = '3f0c9a52-8a0f-4f55-8c59-0a3b1d2e4f60'
  const page = { pageSize: 5, skip: 1, pageToken: 'next' }
  const list = { ...page, filter: 'name = "a"', orderBy: 'name' } as const
  const change = { ifMatch: '"3-live.12"', requestId, validateOnly: true }
  const note = 'why'
  const readMask = 'path'

  /** The method of each operation, with all of its options. */
  const calls: Record<
    Exclude<OperationId, 'getOpenApi' | 'getDocs' | 'getConsole'>,
    (client: Client, options: ClientOptions) => Promise<unknown> | AsyncIterable<unknown>
  > = {
    listOrganizations: ({ organizations }) => organizations.list(list),
    getOrganization: ({ organizations }) => organizations.get(organization),
    listForms: ({ forms }) => forms.list(organization, { ...list, readMask }),
    createForm: ({ forms }) =>
      forms.create(organization, {}, { formId: revision, requestId, validateOnly: true }),
    checkForm: ({ forms }) => forms.check(organization, {}),
    getForm: ({ forms }) => forms.get(organization, form, { readMask }),
    updateForm: ({ forms }) => forms.update(organization, form, { name: 'B' }, change),
    deleteForm: ({ forms }) => forms.delete(organization, form, change),
    listDeletedForms: ({ deletedForms }) => deletedForms.list(organization, page),
    undeleteForm: ({ deletedForms }) => deletedForms.undelete(organization, form, change),
    purgeForm: ({ deletedForms }) => deletedForms.purge(organization, form, change),
    publishForm: ({ forms }) => forms.publish(organization, form, { ...change, note, refuseBreaking: true }),
    unpublishForm: ({ forms }) => forms.unpublish(organization, form, { ...change, note }),
    listRevisions: ({ revisions }) => revisions.list(organization, form, { ...page, readMask }),
    getRevision: ({ revisions }) => revisions.get(organization, form, revision, { readMask }),
    rollbackForm: ({ revisions }) => revisions.rollback(organization, form, revision, change),
    listEvents: ({ events }) => events.list(organization, { ...list, orderBy: 'sequence', afterSequence: 1 }),
    streamEvents: ({ events }) => events.watch(organization, { afterSequence: 1, filter: 'type = a' }),
    getEvent: ({ events }) => events.get(organization, eventId),
    getChanges: ({ forms }) => forms.changes(organization, form, { from: 'latest', to: 'live' }),
    getWhoami: (client) => client.whoami(),
    listKeys: ({ keys }) => keys.list(page),
    createKey: ({ keys }) => keys.create({ name: 'CI' }, { requestId, validateOnly: true }),
    rotateKey: ({ keys }) => keys.rotate(keyId, { overlapSeconds: 60, validateOnly: true }),
    deleteKey: ({ keys }) => keys.delete(keyId, { validateOnly: true }),
    createSession: (_, options) => createSession(options, 'a'.repeat(43)),
  }

  it.each(Object.entries(calls))('sends %s as its operation says', async (id, call) => {
    const requests: Request[] = []
    const options: ClientOptions = {
      baseUrl: 'https://forms.example.com/v2',
      apiKey: 'fms_test',
      maxRetries: 0,
      fetch: async (url, init) => {
        requests.push(new Request(url, init))
        return new Response('{}', { status: 418 })
      },
    }
    const called = call(createClient(options), options)
    const started = Symbol.asyncIterator in called ? called[Symbol.asyncIterator]().next() : called
    await expect(started).rejects.toThrow('418')

    const operation: Operation = operations[id as OperationId]
    const [request] = requests as [Request]
    const { pathname, searchParams } = new URL(request.url)
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: keyof typeof refs) => refs[name])
    expect(`${request.method} ${pathname}`).toBe(`${operation.method} /v2${path}`)
    ;(operation.query ?? NoQuery).parse(Object.fromEntries(searchParams))
    const text = await request.text()
    if (text !== '') operation.body!.parse(JSON.parse(text))
    if (request.headers.has('if-match')) expect(operation.header).toBe('if-match')
  })
})
