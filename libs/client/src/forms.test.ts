import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, DeletedForm, Form, FormInput, FormPatch } from './index.ts'
import { answered, failure, type Reaction, startServer } from './testing.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('the request of', () => {
  const path = '/v2/organizations/acme/forms'
  const call = async (ask: (client: Client) => Promise<unknown>) => {
    await using server = await startServer([answered()])
    await ask(server.client)
    const { method, url, headers, body } = server.requests[0]!
    return { line: `${method} ${url}`, ifMatch: headers['if-match'], type: headers['content-type'], body }
  }

  it('create has the form and the ids in its body', async () => {
    const options = { validateOnly: true, formId: 'own', requestId: 'mine' }

    expect(await call(({ forms }) => forms.create('acme', { name: 'Tea' }, options))).toEqual({
      line: `POST ${path}`,
      ifMatch: undefined,
      type: 'application/json',
      body: { form: { name: 'Tea' }, formId: 'own', requestId: 'mine', validateOnly: true },
    })
  })

  it('update has the patch with its nulls, and the ETag', async () => {
    const patch = { tone: null, theme: { primaryColor: null } }

    expect(await call(({ forms }) => forms.update('acme', 'f', patch, { ifMatch: '"1-x"' }))).toEqual({
      line: `PATCH ${path}/f`,
      ifMatch: '"1-x"',
      type: 'application/json',
      body: { form: patch, validateOnly: false },
    })
  })

  it('update has a requestId only if the caller gives one', async () => {
    expect(
      await call(({ forms }) => forms.update('acme', 'f', { tone: null }, { requestId: 'mine' })),
    ).toMatchObject({ body: { form: { tone: null }, requestId: 'mine', validateOnly: false } })
  })

  it('update also sends an empty ETag, which the service rejects', async () => {
    expect(await call(({ forms }) => forms.update('acme', 'f', {}, { ifMatch: '' }))).toMatchObject({
      ifMatch: '',
    })
  })

  it('delete has no body, but its parameters in the query', async () => {
    const options = { ifMatch: '"1"', requestId: 'mine' }
    const parts = { ifMatch: '"1"', type: undefined, body: undefined }

    const real = await call(({ forms }) => forms.delete('acme', 'f', options))
    const dry = await call(({ forms }) => forms.delete('acme', 'f', { ...options, validateOnly: true }))

    expect(real).toEqual({ line: `DELETE ${path}/f?requestId=mine`, ...parts })
    expect(dry).toEqual({ line: `DELETE ${path}/f?requestId=mine&validateOnly=true`, ...parts })
  })

  it('undelete and purge name the deleted form by its id or path', async () => {
    const deleted = '/v2/organizations/acme/deletedForms/f'
    const options = { ifMatch: '"1"', requestId: 'mine', validateOnly: true }

    const byId = await call(({ deletedForms }) => deletedForms.undelete('acme', 'f', options))
    const byPath = await call(({ deletedForms }) =>
      deletedForms.undelete('acme', 'organizations/o/deletedForms/f'),
    )
    const purge = await call(({ deletedForms }) => deletedForms.purge('acme', 'f', options))

    expect(byId).toMatchObject({
      line: `POST ${deleted}/undelete`,
      ifMatch: '"1"',
      body: { requestId: 'mine', validateOnly: true },
    })
    expect(byPath).toMatchObject({ line: `POST ${deleted}/undelete`, body: { validateOnly: false } })
    expect(purge).toEqual({
      line: `DELETE ${deleted}?requestId=mine&validateOnly=true`,
      ifMatch: '"1"',
      type: undefined,
      body: undefined,
    })
  })

  it('check has the form in the body', async () => {
    expect(await call(({ forms }) => forms.check('acme', { name: 'X' }))).toMatchObject({
      line: `POST ${path}/check`,
      body: { form: { name: 'X' } },
    })
  })

  it('changes has the two states in the query', async () => {
    expect(await call(({ forms }) => forms.changes('acme', 'f'))).toMatchObject({
      line: `GET ${path}/f/changes?from=live&to=draft`,
    })
    expect(
      await call(({ forms }) =>
        forms.changes('acme', 'f', { from: 'organizations/o/forms/f/revisions/r', to: 'live' }),
      ),
    ).toMatchObject({
      line: `GET ${path}/f/changes?from=r&to=live`,
    })
  })

  it('a read or list with a mask has it in the query', async () => {
    const readMask = 'path,name'
    const query = '?readMask=path%2Cname'
    const ofRevision = 'form.name'
    const page = (members: object) => answered({ ...members, totalSize: 0, nextPageToken: '' })

    expect(await call(({ forms }) => forms.get('acme', 'f', { readMask }))).toMatchObject({
      line: `GET ${path}/f${query}`,
    })
    expect(await call(({ forms }) => forms.get('acme', 'f'))).toMatchObject({ line: `GET ${path}/f` })
    expect(
      await call(({ revisions }) => revisions.live('acme', 'f', { readMask: ofRevision })),
    ).toMatchObject({
      line: `GET ${path}/f/revisions/live?readMask=form.name`,
    })
    await using server = await startServer([page({ forms: [] }), page({ revisions: [] })])
    await Array.fromAsync(server.client.forms.list('acme', { readMask, pageSize: 7 }))
    await Array.fromAsync(server.client.revisions.list('acme', 'f', { readMask: ofRevision, pageSize: 7 }))
    expect(server.requests.map(({ url }) => url)).toEqual([
      `${path}?pageSize=7&readMask=path%2Cname`,
      `${path}/f/revisions?pageSize=7&readMask=form.name`,
    ])
  })

  it.each([
    ['create', ({ forms }, options) => forms.create('acme', {}, options)],
    ['delete', ({ forms }, options) => forms.delete('acme', 'f', options)],
    ['publish', ({ forms }, options) => forms.publish('acme', 'f', options)],
    ['unpublish', ({ forms }, options) => forms.unpublish('acme', 'f', options)],
    ['rollback', ({ revisions }, options) => revisions.rollback('acme', 'f', 'live', options)],
    ['undelete', ({ deletedForms }, options) => deletedForms.undelete('acme', 'f', options)],
    ['purge', ({ deletedForms }, options) => deletedForms.purge('acme', 'f', options)],
  ] satisfies [string, (client: Client, options?: { requestId: string }) => Promise<unknown>][])(
    '%s has a new requestId, or the given one',
    async (_, write) => {
      const requestIdOf = async (options?: { requestId: string }) => {
        const { line, body } = await call((client) => write(client, options))
        return (body as { requestId?: string })?.requestId ?? /requestId=([^&]*)/.exec(line)?.[1]
      }

      const [own, another] = [await requestIdOf(), await requestIdOf()]

      expect([own, another]).toEqual([expect.stringMatching(uuid), expect.stringMatching(uuid)])
      expect(another).not.toBe(own)
      expect(await requestIdOf({ requestId: 'mine' })).toBe('mine')
    },
  )

  it('unpublish has the note', async () => {
    const plain = await call(({ forms }) => forms.unpublish('acme', 'f'))
    const full = await call(({ forms }) =>
      forms.unpublish('acme', 'f', { note: 'why', ifMatch: '*', validateOnly: true }),
    )

    expect(plain).toMatchObject({ line: `POST ${path}/f/unpublish`, body: { validateOnly: false } })
    expect(full).toMatchObject({ ifMatch: '*', body: { note: 'why', validateOnly: true } })
  })

  it('rollback names the revision by its id, its path, or as live', async () => {
    const live = await call(({ revisions }) => revisions.rollback('acme', 'f', 'live'))
    const byPath = await call(({ revisions }) =>
      revisions.rollback('acme', 'f', 'organizations/o/forms/f/revisions/r', { ifMatch: '"1"' }),
    )

    expect(live).toMatchObject({
      line: `POST ${path}/f/revisions/live/rollback`,
      body: { validateOnly: false },
    })
    expect(byPath).toMatchObject({ line: `POST ${path}/f/revisions/r/rollback`, ifMatch: '"1"' })
  })
})

describe('edit', () => {
  const moved = failure(412, 'FORM_MOVED')
  const edit = async (
    reactions: Reaction[],
    change: (form: Form) => FormPatch | undefined,
    maxAttempts?: number,
  ) => {
    const server = await startServer(reactions)
    await using _ = server
    const result = await server.client.forms
      .edit('acme', 'f', change, maxAttempts === undefined ? {} : { maxAttempts })
      .catch((error) => error)
    return {
      result,
      waits: server.waits,
      requests: server.requests.map(
        ({ method, headers, body }) =>
          [method, headers['if-match'], (body as { form: Form })?.form.name] as const,
      ),
    }
  }
  const exclaimed = ({ name }: Form) => ({ name: `${name}!` })

  it('updates the state that it has read', async () => {
    const { result, requests } = await edit(
      [answered({ name: 'Tea' }, '"1"'), answered({ name: 'Tea!' }, '"2"')],
      exclaimed,
    )

    expect(result).toEqual({ form: { name: 'Tea!' }, etag: '"2"' })
    expect(requests).toEqual([
      ['GET', undefined, undefined],
      ['PATCH', '"1"', 'Tea!'],
    ])
  })

  it('starts over from the new state after a concurrent change', async () => {
    const { result, requests, waits } = await edit(
      [answered({ name: 'Tea' }, '"1"'), moved, answered({ name: 'Coffee' }, '"2"'), answered({}, '"3"')],
      exclaimed,
    )

    expect(result).toEqual({ form: {}, etag: '"3"' })
    expect(requests[3]).toEqual(['PATCH', '"2"', 'Coffee!'])
    expect(waits).toEqual([125])
  })

  it('sends no update when there is nothing to change', async () => {
    const { result, requests } = await edit([answered({ name: 'Tea' }, '"1"')], () => undefined)

    expect(result).toEqual({ form: { name: 'Tea' }, etag: '"1"' })
    expect(requests).toHaveLength(1)
  })

  it('gives up after maxAttempts', async () => {
    const { result, requests } = await edit([answered(), moved, answered(), moved, answered()], exclaimed, 2)

    expect(result).toMatchObject({ reason: 'FORM_MOVED' })
    expect(requests).toHaveLength(4)
  })

  it('repeats a change with an unknown outcome under its requestId', async () => {
    await using server = await startServer([
      answered({}, '"1"'),
      failure(503, 'UPSTREAM_UNAVAILABLE'),
      answered({}, '"2"'),
    ])

    await server.client.forms.edit('acme', 'f', exclaimed)

    const [, first, second] = server.requests
    expect(first?.body).toMatchObject({ requestId: expect.stringMatching(uuid) })
    expect(second).toEqual(first)
  })

  it('starts over with a new requestId', async () => {
    await using server = await startServer([answered(), moved, answered(), answered()])

    await server.client.forms.edit('acme', 'f', exclaimed)

    const [, first, , second] = server.requests.map(({ body }) => body as { requestId: string })
    expect(second?.requestId).toMatch(uuid)
    expect(second?.requestId).not.toBe(first?.requestId)
  })
})

describe('a list of deleted forms', () => {
  it('requests page after page', async () => {
    const page = (publicId: string, nextPageToken: string) =>
      answered({ deletedForms: [{ publicId }], totalSize: 2, nextPageToken })
    await using server = await startServer([page('one', 't'), page('two', '')])

    const listed = server.client.deletedForms.list('acme', { pageSize: 1 })

    expect(await Array.fromAsync(listed, ({ publicId }) => publicId)).toEqual(['one', 'two'])
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v2/organizations/acme/deletedForms?pageSize=1',
      '/v2/organizations/acme/deletedForms?pageSize=1&pageToken=t',
    ])
    expectTypeOf(listed).toExtend<AsyncIterable<DeletedForm>>()
  })
})

describe('the types', () => {
  it('of a read with a mask have no certain members', () => {
    type Read = Awaited<ReturnType<typeof readName>>
    const readName = async ({ forms }: Client) => (await forms.get('acme', 'f', { readMask: 'name' })).form

    expectTypeOf<Read['name']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<NonNullable<Read['theme']>['textSize']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<NonNullable<Read['steps']>>().toEqualTypeOf<Form['steps']>()
  })

  it('accept a form that was read, and parts of it', () => {
    expectTypeOf<Form>().toExtend<FormInput>()
    expectTypeOf<Form>().toExtend<FormPatch>()
    const input: FormInput = {
      name: 'Tea',
      theme: { primaryColor: '#000000', textSize: null },
      steps: [
        { type: 'start', key: 'hello' },
        { type: 'rating', key: 'stars', max: 5, branches: [{ targetStepKey: 'thanks' }] },
      ],
      i18n: { translations: { de: { name: { value: 'Tee' }, steps: { hello: null } }, fr: null } },
      marketplace: { services: [{ name: 'Tasting', priceRange: { max: 9 } }] },
    }
    expectTypeOf(input).toExtend<FormPatch>()
  })

  it('reject what the API rejects', () => {
    // @ts-expect-error a name cannot be cleared
    const cleared: FormPatch = { name: null }
    // @ts-expect-error there is no such field
    const misspelt: FormPatch = { nmae: 'Tea' }
    // @ts-expect-error one of two
    const unheardOf: FormPatch = { type: 'other' }
    // @ts-expect-error a step has a key
    const nameless: FormPatch = { steps: [{ type: 'end' }] }
    expect([cleared, misspelt, unheardOf, nameless]).toHaveLength(4)
  })
})
