import {
  ErrorBody,
  Form,
  FormChanges,
  ListFormsResponse,
  ListRevisionsResponse,
  Organization,
  Revision,
} from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { sharedSystem } from './shared-system.ts'
import { publishable } from './system.ts'

const system = await sharedSystem()

describe('the lifecycle of a form', () => {
  it('is created, edited, published, read, listed and deleted', async () => {
    const account = await system.account()
    const { forms } = account

    const created = await system.call(account, 'POST', forms, { form: publishable() })
    expect(created.status).toBe(200)
    const form = Form.parse(created.body)
    expect(form.path).toMatch(`organizations/${account.organizationId}/forms/`)
    const path = `${forms}/${form.publicId}`
    expect((await system.call(account, 'GET', `${path}/revisions/live`)).status).toBe(404)

    const patched = await system.call(
      account,
      'PATCH',
      path,
      { form: { name: 'Edited' } },
      { 'if-match': created.headers.get('etag')! },
    )
    expect(patched.body).toMatchObject({ name: 'Edited', live: false })

    const published = await system.call(account, 'POST', `${path}/publish`)
    expect(published.body).toEqual({ ...patched.body, live: true })
    const live = Revision.parse((await system.call(account, 'GET', `${path}/revisions/live`)).body)
    expect(live).toMatchObject({ alternateIds: ['live'], form: { name: 'Edited' } })

    await system.call(account, 'PATCH', path, { form: { name: 'Unseen', aiHandoff: { enabled: true } } })
    const unseen = await system.call(account, 'GET', `${path}/revisions/live`)
    expect(unseen.body.form).toEqual({ ...live.form, aiHandoff: { enabled: true } })

    const { body: changes } = await system.call(account, 'GET', `${path}/changes`)
    expect(FormChanges.parse(changes)).toMatchObject({
      from: live.path,
      to: form.path,
      changes: [{ kind: 'CHANGED', field: 'form.name', before: 'Edited', after: 'Unseen' }],
      breakingCount: 0,
      publishable: true,
    })

    const list = ListFormsResponse.parse((await system.call(account, 'GET', `${forms}?filter=Unseen`)).body)
    expect(list).toMatchObject({ totalSize: 1, nextPageToken: '', forms: [{ path: form.path, live: true }] })
    const revisions = ListRevisionsResponse.parse(
      (await system.call(account, 'GET', `${path}/revisions`)).body,
    )
    expect(revisions.revisions).toEqual([live])

    expect((await system.call(account, 'DELETE', path)).body).toEqual({})
    for (const deleted of [path, `/${form.path}`, `${path}/revisions/live`, `${path}/revisions`]) {
      expect((await system.call(account, 'GET', deleted)).status).toBe(404)
    }
  })

  it('lists the organizations of the caller', async () => {
    const account = await system.account()

    const one = await system.call(account, 'GET', `/organizations/${account.slug}`)
    const page = await system.call(account, 'GET', '/organizations')
    const all = await system.call(account, 'GET', '/organizations?all=true')

    expect(Organization.parse(one.body).path).toBe(`organizations/${account.organizationId}`)
    expect(page.body).toEqual({ nextPageToken: '', totalSize: 1, organizations: [one.body] })
    expect(all.body).toEqual({ organizations: [one.body] })
  })
})

describe('two organizations', () => {
  it("cannot reach each other's forms by any reference", async () => {
    const [mine, theirs] = [await system.account(), await system.account()]
    const form = (await system.call(theirs, 'POST', theirs.forms, { form: publishable() })).body
    await system.call(theirs, 'POST', theirs.forms, { form: {} })
    await system.call(theirs, 'POST', `${theirs.forms}/${form.publicId}/publish`)
    const { nextPageToken } = (await system.call(theirs, 'GET', `${theirs.forms}?pageSize=1`)).body
    const formId = form.path.split('/').at(-1)

    for (const organization of [theirs.slug, theirs.organizationId]) {
      const foreign = await system.call(mine, 'GET', `/organizations/${organization}/forms`)
      expect(foreign.status).toBe(404)
      expect(foreign.body.error.details[0].reason).toBe('ORGANIZATION_NOT_FOUND')
    }
    for (const ref of [form.publicId, formId]) {
      for (const path of [ref, `${ref}/revisions`, `${ref}/revisions/live`]) {
        expect((await system.call(mine, 'GET', `${mine.forms}/${path}`)).status).toBe(404)
      }
      expect((await system.call(mine, 'PATCH', `${mine.forms}/${ref}`, { form: { name: 'x' } })).status).toBe(
        404,
      )
      expect((await system.call(mine, 'POST', `${mine.forms}/${ref}/publish`)).status).toBe(404)
      expect((await system.call(mine, 'DELETE', `${mine.forms}/${ref}`)).status).toBe(404)
    }
    const token = await system.call(mine, 'GET', `${mine.forms}?pageToken=${nextPageToken}`)
    expect(token.status).toBe(400)
    expect(token.body.error.details[0].reason).toBe('INVALID_PAGE_TOKEN')
    expect((await system.call(theirs, 'GET', `${theirs.forms}/${formId}`)).body.name).toBe(form.name)
  })

  it('get the same response for a foreign organization as for a missing one', async () => {
    const [mine, theirs] = [await system.account(), await system.account()]
    const missing = 'missing-one'.padEnd(theirs.slug.length, 'x')
    const id = { 'x-request-id': 'same' }

    const foreign = await system.call(mine, 'GET', `/organizations/${theirs.slug}`, undefined, id)
    const absent = await system.call(mine, 'GET', `/organizations/${missing}`, undefined, id)

    expect(JSON.stringify(absent.body).replaceAll(missing, theirs.slug)).toBe(JSON.stringify(foreign.body))
    expect(absent.status).toBe(404)
  })
})

describe('a role without write access', () => {
  it.each([
    ['a viewer', { role: 'viewer' as const }],
    ['a read-only key', { readOnly: true }],
  ])('lets %s only read', async (_, options) => {
    const owner = await system.account({ role: 'owner' })
    const reader = await system.account({ ...options, in: owner })
    const form = (await system.call(owner, 'POST', owner.forms, { form: publishable() })).body
    const path = `${owner.forms}/${form.publicId}`

    expect((await system.call(reader, 'GET', path)).status).toBe(200)
    const writes = [
      await system.call(reader, 'POST', owner.forms, { form: {} }),
      await system.call(reader, 'PATCH', path, { form: { name: 'x' } }),
      await system.call(reader, 'POST', `${path}/publish`),
      await system.call(reader, 'DELETE', path),
    ]
    expect(writes.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await system.call(owner, 'GET', path)).body).toEqual(form)
  })
})

describe('the port of a service', () => {
  it.each(['organizations', 'forms'])(
    'of %s rejects a request that bypasses the gateway with 401',
    async (name) => {
      const account = await system.account()
      const path = name === 'forms' ? `/organizations/${account.organizationId}/forms` : '/organizations'

      const response = await fetch(`${system.urls[name]}${path}`, {
        headers: { 'x-api-key': account.apiKey },
      })

      expect(response.status).toBe(401)
      const { error } = ErrorBody.parse(await response.json())
      expect(error.details[0]).toMatchObject({ reason: 'IDENTITY_REQUIRED' })
    },
  )
})

describe('an invalid request', () => {
  const reasonOf = (body: { error: { details: { reason: string }[] } }) => body.error.details[0]!.reason

  it.each([
    [
      'with a misspelt field',
      { form: { nmae: 'x' } },
      400,
      'INVALID_ARGUMENT',
      'INVALID_REQUEST',
      'form.nmae',
    ],
    [
      'with a string instead of a number',
      { form: { theme: { buttonRadiusPx: '8' } } },
      400,
      'INVALID_ARGUMENT',
      'INVALID_REQUEST',
      'form.theme.buttonRadiusPx',
    ],
    [
      'of 2 MiB',
      { form: { description: 'x'.repeat(2 ** 21) } },
      413,
      'INVALID_ARGUMENT',
      'BODY_TOO_LARGE',
      undefined,
    ],
    ['that is not JSON', 'not json', 400, 'INVALID_ARGUMENT', 'MALFORMED_JSON', undefined],
  ])('%s gets its reason', async (_, body, code, status, reason, field) => {
    const account = await system.account()

    const response = await system.call(account, 'POST', account.forms, body)

    expect(response.status).toBe(code)
    expect(response.body.error).toMatchObject({ code, status })
    expect(reasonOf(response.body)).toBe(reason)
    if (field) {
      expect(response.body.error.details[1].fieldViolations).toEqual([expect.objectContaining({ field })])
    }
    expect((await system.call(account, 'GET', account.forms)).body.totalSize).toBe(0)
  })

  it('without a key, with an invalid key or for an unknown form gets its reason', async () => {
    const account = await system.account()
    const id = { 'x-request-id': 'same' }

    const none = await system.call({ apiKey: '' }, 'GET', account.forms, undefined, id)
    const invalid = await system.call(
      { apiKey: `fms_${'A'.repeat(43)}` },
      'GET',
      account.forms,
      undefined,
      id,
    )
    const unknown = await system.call(account, 'GET', `${account.forms}/AAAAAAAAAA`)

    expect(none.status).toBe(401)
    expect(none.body.error.status).toBe('UNAUTHENTICATED')
    expect(none.headers.get('www-authenticate')).toBeTruthy()
    expect(invalid.body).toEqual(none.body)
    expect(unknown.status).toBe(404)
    expect(reasonOf(unknown.body)).toBe('FORM_NOT_FOUND')
  })
})
