import { randomUUID } from 'node:crypto'
import { formPath } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { deletedUrlOf, type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

type Send = (body: object, headers?: Record<string, string>) => InjectOptions

/** A change with `requestId`, and how to see that it happened once. */
interface Change {
  /** Prepares the form. */
  given?: (service: FormsService, form: StoredForm) => Promise<unknown>
  /** The request, and one with another target or other parameters. */
  send: (form: StoredForm) => Send
  other: (form: StoredForm, another: StoredForm) => Send
  /** The type of the event. */
  type: string
}

const json = (method: 'POST' | 'PATCH' | 'DELETE', url: string, fields: object = {}): Send => {
  return (body, headers = {}) => ({ method, url, headers, payload: { ...fields, ...body } })
}

const remove = async (service: FormsService, form: StoredForm) =>
  expect((await service.send({ method: 'DELETE', url: urlOf(form) })).statusCode).toBe(200)

const edited = { form: { name: 'Edited' } }

const changes: Record<string, Change> = {
  update: {
    send: (form) => json('PATCH', urlOf(form), edited),
    other: (form) => json('PATCH', urlOf(form), { form: { name: 'Other' } }),
    type: 'form.updated',
  },
  delete: {
    send: (form) => json('DELETE', urlOf(form)),
    other: (_, another) => json('DELETE', urlOf(another)),
    type: 'form.deleted',
  },
  undelete: {
    given: remove,
    send: (form) => json('POST', `${deletedUrlOf(form)}/undelete`),
    other: (_, another) => json('POST', `${deletedUrlOf(another)}/undelete`),
    type: 'form.undeleted',
  },
  purge: {
    given: remove,
    send: (form) => json('DELETE', deletedUrlOf(form)),
    other: (_, another) => json('DELETE', deletedUrlOf(another)),
    type: 'form.purged',
  },
  unpublish: {
    given: (service, form) => service.given.revision(form),
    send: (form) => json('POST', `${urlOf(form)}/unpublish`, { note: 'Why' }),
    other: (form) => json('POST', `${urlOf(form)}/unpublish`, { note: 'Why not' }),
    type: 'form.unpublished',
  },
  rollback: {
    given: async (service, form) => {
      await service.given.revision(form)
      await service.send(json('PATCH', urlOf(form), edited)({}))
    },
    send: (form) => json('POST', `${urlOf(form)}/revisions/live/rollback`),
    other: (form) => json('POST', `${urlOf(form)}/revisions/latest/rollback`),
    type: 'form.rolledBack',
  },
}

const given = async (change: Change) => {
  const service = await startForms({ deletedFormsDays: 30 })
  const form = await service.given.form({ name: 'First' })
  const another = await service.given.form({ name: 'Another' })
  await change.given?.(service, form)
  const send = (request: InjectOptions) => service.send(request, { role: 'owner' })
  return { service, form, another, send, requestId: randomUUID() }
}

const eventsOf = async ({ forms, organizationId }: FormsService, type: string) =>
  (await forms.events.read({ organizationId, limit: 100 })).filter((event) => event.type === type)

const isGone = (name: string) => name === 'delete' || name === 'purge'

/** The response of a repeat: the form as it is now, or an empty object. */
const expectReplay = async (
  service: FormsService,
  form: StoredForm,
  response: Awaited<ReturnType<FormsService['send']>>,
) => {
  expect(response.headers['x-request-replayed']).toBe('true')
  expect(response.statusCode).toBe(200)
  const read = await service.send({ url: urlOf(form) })
  const now = read.statusCode === 200 ? [read.headers.etag, read.json()] : [undefined, {}]
  expect([response.headers.etag, response.json()]).toEqual(now)
}

describe.each(Object.entries(changes))('a repeat of %s', (name, change) => {
  it('returns the form as it is now, and changes nothing', async () => {
    const { service, form, send, requestId } = await given(change)
    await using _ = service
    const request = change.send(form)

    const first = await send(request({ requestId }))
    if (!isGone(name)) await send(json('PATCH', urlOf(form), { form: { description: 'Later' } })({}))
    const before = await eventsOf(service, change.type)
    const again = await send(request({ requestId: requestId.toUpperCase(), validateOnly: false }))

    expect(first.statusCode, first.body).toBe(200)
    expect(first.headers['x-request-replayed']).toBeUndefined()
    await expectReplay(service, form, again)
    if (!isGone(name)) expect(again.json()).toMatchObject({ description: 'Later' })
    expect(await eventsOf(service, change.type)).toEqual(before)
  })

  it('is found before If-Match is checked, also if it names the form by its public id', async () => {
    const { service, form, send, requestId } = await given(change)
    await using _ = service
    await send(change.send(form)({ requestId }))

    const { url, ...byPublicId } = change.send({ ...form, formId: form.publicId })({ requestId })
    const stale = await send({ ...byPublicId, url, headers: { 'if-match': '"99-draft.0"' } })

    await expectReplay(service, form, stale)
  })

  it('with another target or body is rejected, also in a dry run', async () => {
    const { service, form, another, send, requestId } = await given(change)
    await using _ = service
    await send(change.send(form)({ requestId }))
    if (name === 'undelete' || name === 'purge') await remove(service, another)
    const before = await Array.fromAsync(service.forms.exportForms(service.organizationId))

    for (const options of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(await send(change.other(form, another)({ requestId, ...options })))
      expect(refusal).toMatchObject({
        code: 409,
        status: 'ALREADY_EXISTS',
        reason: 'REQUEST_ID_REUSED',
        metadata: { organization: `organizations/${service.organizationId}`, requestId, method: name },
      })
    }
    expect(await Array.fromAsync(service.forms.exportForms(service.organizationId))).toEqual(before)
  })

  it('in a dry run responds as the repeat, without an ETag; a dry run itself is not remembered', async () => {
    const { service, form, send, requestId } = await given(change)
    await using _ = service
    const request = change.send(form)
    await send(request({ requestId, validateOnly: true }))

    const first = await send(request({ requestId }))
    const dry = await send(request({ requestId, validateOnly: true }))

    expect(first.headers['x-request-replayed']).toBeUndefined()
    expect([dry.statusCode, dry.headers['x-request-replayed'], dry.headers.etag]).toEqual([
      200,
      'true',
      undefined,
    ])
    expect(await eventsOf(service, change.type)).toHaveLength(1)
  })

  it('is a 404 once the form is gone, except for a delete or purge', async () => {
    const { service, form, send, requestId } = await given(change)
    await using _ = service
    await send(change.send(form)({ requestId }))
    if (!isGone(name)) await remove(service, form)

    const again = await send(change.send(form)({ requestId }))

    if (isGone(name)) await expectReplay(service, form, again)
    else {
      const refusal = refusalOf(again)
      expect(refusal).toMatchObject({
        code: 404,
        reason: 'FORM_NOT_FOUND',
        metadata: { form: formPath(form) },
      })
      expect(again.headers['x-request-replayed']).toBeUndefined()
    }
  })

  it('is a request of its own after a refusal, with another requestId, and for another method', async () => {
    const { service, form, send, requestId } = await given(change)
    await using _ = service
    const moved = await send(change.send(form)({ requestId }, { 'if-match': '"99-draft.0"' }))
    expect(moved.statusCode).toBe(412)
    await send(json('POST', `/organizations/${service.organizationId}/forms`, { form: {} })({ requestId }))

    const first = await send(change.send(form)({ requestId }))
    const second = await send(change.send(form)({ requestId: randomUUID() }))

    expect([first.statusCode, first.headers['x-request-replayed']]).toEqual([200, undefined])
    expect(second.headers['x-request-replayed']).toBeUndefined()
    expect(await eventsOf(service, change.type)).toHaveLength(1)
  })

  it.each(['x', '', 7, null])('rejects the requestId %j', async (requestId) => {
    const { service, form, send } = await given(change)
    await using _ = service

    const refusal = refusalOf(await send(change.send(form)({ requestId })))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: ['requestId'] })
    expect(await eventsOf(service, change.type)).toEqual([])
  })
})

describe('a repeat of a create', () => {
  const start = async () => {
    const service = await startForms({ deletedFormsDays: 30 })
    const url = `/organizations/${service.organizationId}/forms`
    const create = (body: object, organizationId = service.organizationId) =>
      service.send(
        { method: 'POST', url: `/organizations/${organizationId}/forms`, payload: body },
        { organizationId },
      )
    return { service, url, create, requestId: randomUUID() }
  }

  it('returns the one form that the first has created, as it is now', async () => {
    const { service, create, requestId } = await start()
    await using _ = service

    const responses = await Promise.all(
      Array.from({ length: 20 }, () => create({ form: { name: 'One' }, requestId })),
    )

    const [form, ...others] = await service.everyForm()
    expect(others).toEqual([])
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1)
    expect(responses.filter(({ headers }) => headers['x-request-replayed'])).toHaveLength(19)
    await service.send(json('PATCH', urlOf(form!), edited)({}))
    await expectReplay(service, form!, await create({ form: { name: 'One' }, requestId }))
    const dry = await create({ form: { name: 'One' }, requestId, validateOnly: true })
    expect(dry.json()).toMatchObject({ name: 'Edited', publicId: form!.publicId })
    expect([dry.headers['x-request-replayed'], dry.headers.etag]).toEqual(['true', undefined])
  })

  it('is found before formId and the rules are checked', async () => {
    const { service, create, requestId } = await start()
    await using _ = service
    const formId = randomUUID()
    await create({ form: {}, formId, requestId })

    const again = await create({ form: {}, formId: formId.toUpperCase(), requestId })
    const invalid = await create({ form: { name: 7 }, formId, requestId })
    const withoutId = await create({ form: {}, requestId })

    expect([again.statusCode, again.headers['x-request-replayed']]).toEqual([200, 'true'])
    expect([invalid, withoutId].map((response) => refusalOf(response).reason)).toEqual([
      'REQUEST_ID_REUSED',
      'REQUEST_ID_REUSED',
    ])
  })

  it('is a 404 once the form is deleted', async () => {
    const { service, create, requestId } = await start()
    await using _ = service
    await create({ form: {}, requestId })
    const [form] = await service.everyForm()
    await remove(service, form!)

    const refusal = refusalOf(await create({ form: {}, requestId }))

    expect(refusal).toMatchObject({
      code: 404,
      reason: 'FORM_NOT_FOUND',
      metadata: { form: formPath(form!) },
    })
    expect(await service.everyForm()).toEqual([])
  })

  it('is a 409 once another form has the id of the purged one, which is another target', async () => {
    const { service, create, requestId } = await start()
    await using _ = service
    const formId = randomUUID()
    await create({ form: { name: 'First' }, formId, requestId })
    const [first] = await service.everyForm()
    const patch = json('PATCH', urlOf(first!), edited)({ requestId })
    await service.send(patch)
    const drop = json('DELETE', urlOf(first!))({ requestId })
    await service.send(drop)
    const purge = json('DELETE', deletedUrlOf(first!))({})
    expect((await service.send(purge, { role: 'owner' })).statusCode).toBe(200)
    await create({ form: { name: 'Another' }, formId, requestId: randomUUID() })

    const repeats = [
      await create({ form: { name: 'First' }, formId, requestId }),
      await service.send(patch),
      await service.send(drop),
      await create({ form: { name: 'First' }, formId, requestId, validateOnly: true }),
    ]

    for (const repeat of repeats) {
      expect(refusalOf(repeat)).toMatchObject({ code: 409, reason: 'REQUEST_ID_REUSED' })
    }
    expect((await service.everyForm()).map(({ name }) => name)).toEqual(['Another'])
  })

  it('is a request of its own in another organization', async () => {
    const { service, create, requestId } = await start()
    await using _ = service
    await create({ form: {}, requestId })

    const elsewhere = await create({ form: { name: 'Theirs' }, requestId }, randomUUID())

    expect([elsewhere.statusCode, elsewhere.headers['x-request-replayed']]).toEqual([200, undefined])
  })

  it('is recognized in any spelling of its body, large or small, and no other body is', async () => {
    const { service, url, requestId } = await start()
    await using _ = service
    const form = {
      name: 'Ünïcode \u{1f600}',
      maxFollowUpQuestions: 4,
      steps: [{ type: 'text', key: 'q', further: { b: [1, { d: null, c: 'x' }], a: 0.5 } }],
    }
    const post = (payload: string) =>
      service.send({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } })
    await post(JSON.stringify({ form, requestId }))

    const spelling = fc.record({ isReversed: fc.boolean(), isLarge: fc.boolean(), isEscaped: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(spelling, async ({ isReversed, isLarge, isEscaped }) => {
        const body = { form, requestId, validateOnly: false }
        let text = JSON.stringify(isReversed ? reversed(body) : body).replace(':4', ':4.0')
        if (isEscaped) text = text.replace('Ü', '\\u00dc').replace('"name"', '"n\\u0061me"')
        if (isLarge) text = text.replace('{', `{${' '.repeat(70_000)}`)
        expect((await post(text)).headers['x-request-replayed']).toBe('true')
        const other = await post(text.replace('"x"', '"y"'))
        expect(refusalOf(other).reason).toBe('REQUEST_ID_REUSED')
      }),
      { numRuns: 20 },
    )
    expect(await service.everyForm()).toHaveLength(1)
  })
})

/** The value with the members of each object in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, reversed(member)])
      .reverse(),
  )
}

describe('the requestId of a delete', () => {
  it('may be in the query, in any letter case', async () => {
    await using service = await startForms({ deletedFormsDays: 30 })
    const form = await service.given.form()
    const requestId = randomUUID()

    const first = await service.send({ method: 'DELETE', url: `${urlOf(form)}?requestId=${requestId}` })
    const query = `?requestId=${requestId.toUpperCase()}`
    const second = await service.send({
      method: 'DELETE',
      url: `${urlOf(form)}${query}`,
      payload: { requestId },
    })
    const third = await service.send({ method: 'DELETE', url: urlOf(form), payload: { requestId } })

    expect([first, second, third].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect([first, second, third].map(({ headers }) => headers['x-request-replayed'])).toEqual([
      undefined,
      'true',
      'true',
    ])
  })

  it.each([urlOf, deletedUrlOf])('must be the same in body and query', async (urlFor) => {
    await using service = await startForms({ deletedFormsDays: 30 })
    const form = await service.given.form()
    const url = `${urlFor(form)}?requestId=${randomUUID()}&validateOnly=true`
    const payload = { requestId: randomUUID(), validateOnly: false }

    const refusal = refusalOf(await service.send({ method: 'DELETE', url, payload }, { role: 'owner' }))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(refusal.violations).toEqual([
      { field: 'requestId', description: 'must be the same in body and query' },
      { field: 'validateOnly', description: 'must be the same in body and query' },
    ])
    expect(await service.everyForm()).toEqual([form])
  })

  it.each(['requestId=x', 'requestId=', `requestId=${randomUUID()}&requestId=${randomUUID()}`])(
    'rejects the query %s',
    async (query) => {
      await using service = await startForms()
      const form = await service.given.form()

      const refusal = refusalOf(await service.send({ method: 'DELETE', url: `${urlOf(form)}?${query}` }))

      expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: ['requestId'] })
    },
  )
})
