import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, Form, FormInput, FormPatch } from './index.ts'
import { answered, failure, type Reaction, startServer } from './testing.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('the request of', () => {
  const path = '/v2/organizations/acme/forms'
  const call = async (ask: (client: Client) => Promise<unknown>) => {
    await using server = await startServer([answered()])
    await ask(server.client)
    const { method, url, headers, body } = server.requests[0]!
    return { line: `${method} ${url}`, ifMatch: headers['if-match'], type: headers['content-type'], body }
  }

  it('create has the form in its body', async () => {
    expect(await call(({ forms }) => forms.create('acme', { name: 'Tea' }, { validateOnly: true }))).toEqual({
      line: `POST ${path}`,
      ifMatch: undefined,
      type: 'application/json',
      body: { form: { name: 'Tea' }, validateOnly: true },
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

  it('update also sends an empty ETag, which the service rejects', async () => {
    expect(await call(({ forms }) => forms.update('acme', 'f', {}, { ifMatch: '' }))).toMatchObject({
      ifMatch: '',
    })
  })

  it('delete has no body, and validateOnly in the query', async () => {
    const parts = { ifMatch: '"1"', type: undefined, body: undefined }

    const real = await call(({ forms }) => forms.delete('acme', 'f', { ifMatch: '"1"' }))
    const dry = await call(({ forms }) => forms.delete('acme', 'f', { ifMatch: '"1"', validateOnly: true }))

    expect(real).toEqual({ line: `DELETE ${path}/f`, ...parts })
    expect(dry).toEqual({ line: `DELETE ${path}/f?validateOnly=true`, ...parts })
  })

  it('changes names the states to compare in the query, if the caller does', async () => {
    expect(await call(({ forms }) => forms.changes('acme', 'f'))).toMatchObject({
      line: `GET ${path}/f/changes`,
    })
    expect(
      await call(({ forms }) => forms.changes('acme', 'f', { from: 'latest', to: 'live' })),
    ).toMatchObject({ line: `GET ${path}/f/changes?from=latest&to=live` })
  })

  it('a read or list with a mask has it in the query', async () => {
    const readMask = 'name,theme.textSize'
    const query = '?readMask=name%2Ctheme.textSize'
    const page = (members: object) => answered({ ...members, totalSize: 0, nextPageToken: '' })

    expect(await call(({ forms }) => forms.get('acme', 'f', { readMask }))).toMatchObject({
      line: `GET ${path}/f${query}`,
    })
    expect(await call(({ forms }) => forms.get('acme', 'f'))).toMatchObject({ line: `GET ${path}/f` })
    expect(await call(({ revisions }) => revisions.live('acme', 'f', { readMask }))).toMatchObject({
      line: `GET ${path}/f/revisions/live${query}`,
    })
    await using server = await startServer([page({ forms: [] }), page({ revisions: [] })])
    await Array.fromAsync(server.client.forms.list('acme', { readMask, pageSize: 7 }))
    await Array.fromAsync(server.client.revisions.list('acme', 'f', { readMask, pageSize: 7 }))
    expect(server.requests.map(({ url }) => url)).toEqual([
      `${path}?pageSize=7&readMask=name%2Ctheme.textSize`,
      `${path}/f/revisions?pageSize=7&readMask=name%2Ctheme.textSize`,
    ])
  })

  it('publish has a new requestId, or the given one', async () => {
    const own = await call(({ forms }) => forms.publish('acme', 'f'))
    const another = await call(({ forms }) => forms.publish('acme', 'f'))
    const given = await call(({ forms }) => forms.publish('acme', 'f', { requestId: 'mine', ifMatch: '*' }))

    expect(own).toMatchObject({
      line: `POST ${path}/f/publish`,
      body: { requestId: expect.stringMatching(uuid), validateOnly: false },
    })
    expect(another.body).not.toEqual(own.body)
    expect(given).toMatchObject({ ifMatch: '*', body: { requestId: 'mine' } })
  })

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

  it('does not repeat a change with an unknown outcome', async () => {
    const { result, requests } = await edit(
      [answered({}, '"1"'), failure(503, 'UPSTREAM_UNAVAILABLE'), moved],
      exclaimed,
    )

    expect(result).toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    expect(requests.map(([method]) => method)).toEqual(['GET', 'PATCH', 'PATCH'])
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
