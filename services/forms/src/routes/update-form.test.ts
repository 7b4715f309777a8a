import { randomUUID } from 'node:crypto'
import { expensiveHeader, Form } from '@fms/contracts'
import { parseDraft, type StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const send = (url: string, payload: unknown, headers: Record<string, string> = {}) => ({
  method: 'PATCH' as const,
  url,
  payload: payload as object,
  headers,
})

const patch = (form: StoredForm, fields: object, headers?: Record<string, string>) =>
  send(urlOf(form), { form: fields }, headers)

const dryPatch = (form: StoredForm, fields: object, headers?: Record<string, string>) =>
  send(urlOf(form), { form: fields, validateOnly: true }, headers)

const translated = { override: false, sourceHash: '', stale: false, value: 'Hallo' }

const etagOf = async (service: FormsService, form: StoredForm) =>
  (await service.send({ url: urlOf(form) })).headers.etag as string

describe('PATCH /organizations/{organization}/forms/{form}', () => {
  it('changes only the fields of the patch', async () => {
    await using service = await startForms()
    const form = await service.given.form({ name: 'Before', tone: 'dry', theme: { buttonRadiusPx: 4 } })
    const draft = parseDraft(form)
    service.clock.now = new Date('2026-11-20T10:00:00.000Z')

    const response = await service.send(
      patch(form, { name: 'After', theme: { primaryColor: 'red' }, leadScoring: { high: 'buys' } }),
    )

    expect(response.statusCode).toBe(200)
    const before = Form.parse((await service.send({ url: urlOf(form) })).json())
    expect(Form.parse(response.json())).toEqual(before)
    expect(before).toMatchObject({
      ...draft,
      name: 'After',
      theme: { ...draft.theme, primaryColor: 'red', buttonRadiusPx: 4 },
      leadScoring: { ...draft.leadScoring, high: 'buys' },
      createTime: '2026-11-20T09:30:00.000Z',
      updateTime: '2026-11-20T10:00:00.000Z',
    })
    expect(response.headers.etag).toMatch(/^"2-/)
  })

  it('tells the gateway that patches of a long draft are expensive, also in a refusal or a dry run, until it is short', async () => {
    await using service = await startForms()
    const form = await service.given.form({ context: Array(20).fill('x'.repeat(4_000)) })
    const isExpensive = async (request: ReturnType<typeof patch>) =>
      expensiveHeader in (await service.send(request)).headers

    expect(await isExpensive(patch(form, { tone: 'dry' }))).toBe(true)
    expect(await isExpensive(patch(form, { steps: [{}] }))).toBe(true)
    expect(await isExpensive(dryPatch(form, { context: [] }))).toBe(true)
    expect(await isExpensive(patch(form, { context: [] }))).toBe(false)
    expect(await isExpensive(patch(form, { tone: 'warm' }))).toBe(false)
  })

  it('replaces lists as a whole', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      context: ['a', 'b'],
      steps: [{ type: 'text', key: 'q', title: 'Old' }],
    })

    const response = await service.send(patch(form, { context: ['c'], steps: [{ type: 'end', key: 'e' }] }))

    expect(Form.parse(response.json())).toMatchObject({ context: ['c'], steps: [{ type: 'end', key: 'e' }] })
    expect(response.json().steps).toEqual([{ type: 'end', key: 'e' }])
  })

  it('resets a field to its default by null, at every depth', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      tone: 'dry',
      description: 'x',
      maxFollowUpQuestions: 9,
      context: ['x'],
      steps: [{ type: 'end', key: 'e' }],
      voice: { enabled: true },
      theme: { primaryColor: 'red', textSize: 'big' },
      marketplace: { enabled: true, location: { city: 'Bonn', area: 'NRW' }, languages: ['de'] },
      i18n: { sourceLocale: 'de', supportedLocales: ['de'] },
    })

    const response = await service.send(
      patch(form, {
        tone: null,
        description: null,
        maxFollowUpQuestions: null,
        context: null,
        steps: null,
        voice: null,
        theme: { primaryColor: null },
        marketplace: { location: { city: null }, languages: null },
        i18n: null,
      }),
    )

    expect(Form.parse(response.json())).toMatchObject({
      tone: 'professional',
      description: '',
      maxFollowUpQuestions: 3,
      context: [],
      steps: [],
      voice: { enabled: false },
      theme: { primaryColor: '#2563eb', textSize: 'big' },
      marketplace: { enabled: true, location: { address: '', city: '', area: 'NRW' }, languages: [] },
      i18n: { sourceLocale: 'en', supportedLocales: ['en'], translations: {} },
    })
  })

  it('removes translations by null: a locale, a step, one value', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      i18n: {
        supportedLocales: ['en', 'de', 'fr'],
        translations: {
          fr: { name: translated },
          de: { name: translated, description: translated, steps: { a: { title: translated }, b: {} } },
        },
      },
    })

    const response = await service.send(
      patch(form, { i18n: { translations: { fr: null, de: { name: null, steps: { b: null } } } } }),
    )

    expect(Form.parse(response.json()).i18n.translations).toEqual({
      de: { description: translated, steps: { a: { title: translated, options: [] } } },
    })
    expect(response.json().i18n.translations.de).not.toHaveProperty('name')
  })

  it.each(['name', 'type', 'defaultMode'])('rejects null for %s', async (field) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(patch(form, { [field]: null }))

    expect(refusalOf(response)).toMatchObject({
      code: 400,
      reason: 'INVALID_REQUEST',
      violations: [{ field: `form.${field}`, description: 'cannot be cleared' }],
    })
    expect(await service.everyForm()).toEqual([form])
  })

  it('rejects a change of the type, and accepts the same type', async () => {
    await using service = await startForms()
    const form = await service.given.form({ type: 'dynamic' })

    expect(refusalOf(await service.send(patch(form, { type: 'structured' })))).toMatchObject({
      code: 400,
      violations: [{ field: 'form.type', description: 'is fixed at creation: it is "dynamic"' }],
    })
    expect((await service.send(patch(form, { type: 'dynamic' }))).statusCode).toBe(200)
    expect(await service.everyForm()).toEqual([form])
  })

  it('reports all violations, including the type', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(
      patch(form, { type: 'dynamic', name: ' ', defaultMode: null, nmae: null, theme: { x: null } }),
    )

    expect(refusalOf(response).fields.sort()).toEqual([
      'form.defaultMode',
      'form.name',
      'form.nmae',
      'form.theme.x',
      'form.type',
    ])
  })

  it('checks the result as a whole: a payment step requires the guided mode', async () => {
    await using service = await startForms()
    const voice = await service.given.form({ defaultMode: 'voice' })
    const paid = await service.given.form({ steps: [{ type: 'payment', key: 'p' }] })

    const added = await service.send(patch(voice, { steps: [{ type: 'payment', key: 'p' }] }))
    const switched = await service.send(patch(paid, { defaultMode: 'voice' }))
    const both = await service.send(
      patch(voice, { steps: [{ type: 'payment', key: 'p' }], defaultMode: 'guided' }),
    )

    expect(refusalOf(added).fields).toEqual(['form.defaultMode'])
    expect(refusalOf(switched).fields).toEqual(['form.defaultMode'])
    expect(both.statusCode).toBe(200)
  })

  it('ignores output-only fields, so that a client can send back what it read', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const { etag } = (await service.send({ url: urlOf(form) })).headers

    const response = await service.send(
      patch(form, {
        path: 1,
        publicId: null,
        publicUrl: 'x',
        live: 'yes',
        replyCount: -1,
        createTime: {},
        updateTime: [],
      }),
    )

    expect(response.statusCode).toBe(200)
    expect(response.headers.etag).toBe(etag)
  })

  it('leaves updateTime and version unchanged when the patch changes nothing', async () => {
    await using service = await startForms()
    const form = await service.given.form({ name: 'Same', theme: { primaryColor: 'red' } })
    const etag = await etagOf(service, form)
    service.clock.now = new Date('2026-11-21T00:00:00.000Z')

    for (const fields of [
      {},
      { name: 'Same' },
      { theme: {} },
      { theme: { primaryColor: 'red' }, tone: null },
    ]) {
      const response = await service.send(patch(form, fields))
      expect(Form.parse(response.json()).updateTime).toBe('2026-11-20T09:30:00.000Z')
      expect(response.headers.etag).toBe(etag)
    }
  })

  it('increases updateTime with each change, within a millisecond and with the clock set back', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const updateTimeAfter = async (tone: string) =>
      Form.parse((await service.send(patch(form, { tone }))).json()).updateTime

    expect(await updateTimeAfter('a')).toBe('2026-11-20T09:30:00.001Z')
    expect(await updateTimeAfter('b')).toBe('2026-11-20T09:30:00.002Z')
    service.clock.now = new Date('2026-11-20T09:00:00.000Z')
    expect(await updateTimeAfter('c')).toBe('2026-11-20T09:30:00.003Z')
  })

  describe('If-Match', () => {
    it.each([
      ['*', () => '*'],
      ['the tag', (etag: string) => etag],
      ['a list that has it', (etag: string) => `"other" , ${etag},`],
    ])('accepts %s', async (_, headerOf) => {
      await using service = await startForms()
      const form = await service.given.form()
      const header = headerOf(await etagOf(service, form))

      expect((await service.send(patch(form, { tone: 'dry' }, { 'if-match': header }))).statusCode).toBe(200)
    })

    it.each([
      ['a stale tag', () => '"stale"'],
      ['a tag of a longer version', () => '"10-draft.0"'],
      ['its tag made weak', (etag: string) => `W/${etag}`],
      ['a list of others', () => '"0-draft.0", "2-draft.0"'],
      ['an empty tag', () => '""'],
    ])('rejects %s, and leaves the form unchanged', async (_, headerOf) => {
      await using service = await startForms()
      const form = await service.given.form()
      const etag = await etagOf(service, form)

      for (const request of [patch, dryPatch]) {
        const response = await service.send(request(form, { tone: 'dry' }, { 'if-match': headerOf(etag) }))
        expect(refusalOf(response)).toMatchObject({
          code: 412,
          status: 'FAILED_PRECONDITION',
          reason: 'FORM_MOVED',
          metadata: { etag },
        })
      }
      expect(await service.everyForm()).toEqual([form])
    })

    it.each(['1-draft.0', '', '"open', '*, "1-draft.0"', 'W/"a', '"a" "b"'])(
      'rejects the malformed %j',
      async (header) => {
        await using service = await startForms()
        const form = await service.given.form()

        const response = await service.send(patch(form, { tone: 'dry' }, { 'if-match': header }))

        expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_IF_MATCH' })
        expect(await service.everyForm()).toEqual([form])
      },
    )

    it('matches after a reply and a publish: neither changes the draft', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const etag = await etagOf(service, form)
      await service.given.reply(form)
      await service.given.revision(form)

      const response = await service.send(patch(form, { tone: 'dry' }, { 'if-match': etag }))

      expect(response.statusCode).toBe(200)
      expect(Form.parse(response.json())).toMatchObject({ tone: 'dry', replyCount: 1, live: true })
    })

    it('no longer matches after another patch', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const etag = await etagOf(service, form)

      const first = await service.send(patch(form, { tone: 'dry' }, { 'if-match': etag }))
      const second = await service.send(patch(form, { tone: 'warm' }, { 'if-match': etag }))
      const third = await service.send(
        patch(form, { tone: 'warm' }, { 'if-match': first.headers.etag as string }),
      )

      expect([first.statusCode, second.statusCode, third.statusCode]).toEqual([200, 412, 200])
    })

    it('is checked after the form is found, and before the draft is validated', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const missing = { ...form, formId: randomUUID() }

      const stale = { 'if-match': '"stale"' }
      expect((await service.send(patch(form, { name: '' }, stale))).statusCode).toBe(412)
      expect((await service.send(patch(missing, { name: '' }, stale))).statusCode).toBe(404)
    })
  })

  describe('validateOnly', () => {
    it('returns the form as it would be, without an ETag, and stores nothing', async () => {
      await using service = await startForms()
      const form = await service.given.form()

      const dry = await service.send(dryPatch(form, { name: 'After' }))
      const after = await service.everyForm()
      const real = await service.send(patch(form, { name: 'After' }))

      expect(Form.parse(dry.json())).toEqual(Form.parse(real.json()))
      expect(dry.headers.etag).toBeUndefined()
      expect(after).toEqual([form])
    })

    it.each([
      ['a violated rule', { name: '' }],
      ['a cleared name', { name: null }],
      ['another type', { type: 'dynamic' }],
      ['an unknown field', { nmae: 'x' }],
      ['a form that grows too large', { context: Array(900).fill('x'.repeat(900)) }],
    ])('rejects %s as the real request does', async (_, fields) => {
      await using service = await startForms()
      const form = await service.given.form()

      const dry = refusalOf(await service.send(dryPatch(form, fields)))
      const real = refusalOf(await service.send(patch(form, fields)))

      expect(dry).toEqual(real)
      expect(dry).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    })

    it('responds FORM_NOT_FOUND as the real request does', async () => {
      await using service = await startForms()
      const form = await service.given.form()

      expect(refusalOf(await service.send(dryPatch({ ...form, formId: randomUUID() }, {})))).toMatchObject({
        code: 404,
        reason: 'FORM_NOT_FOUND',
      })
    })
  })

  it.each([
    ['a misspelt member', { form: {}, validateonly: true }, ['validateonly']],
    ['a null in an unknown member', { form: {}, mask: null }, ['mask']],
    ['no form', {}, ['form']],
    ['a form of null', { form: null }, ['form']],
    ['a list for a form', { form: [] }, ['form']],
    ['a word for a boolean', { form: {}, validateOnly: 'true' }, ['validateOnly']],
    ['null for a boolean', { form: {}, validateOnly: null }, ['validateOnly']],
    ['a list for an object', [], ['']],
  ])('rejects a body with %s', async (_, payload, fields) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(send(urlOf(form), payload))

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields })
  })

  it('rejects __proto__, constructor and prototype anywhere', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const response = await service.send(
        send(urlOf(form), `{"form": {"theme": {"${name}": {"polluted": true}}}}`, {
          'content-type': 'application/json',
        }),
      )
      expect(refusalOf(response).fields).toEqual([`form.theme.${name}`])
    }
  })

  it('rejects a body of another media type, of none, and one over 1 MiB', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const json = '{"form":{}}'

    const text = await service.send(send(urlOf(form), json, { 'content-type': 'text/plain' }))
    const untyped = await service.send(send(urlOf(form), json))
    const large = await service.send(patch(form, { description: 'x'.repeat(1024 * 1024) }))

    expect(refusalOf(text)).toMatchObject({ code: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(refusalOf(untyped)).toMatchObject({ code: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(refusalOf(large)).toMatchObject({ code: 413, reason: 'BODY_TOO_LARGE' })
  })

  it('rejects malformed JSON, and JSON deeper than 64', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const nested = (depth: number) => `{"form":${'{"a":'.repeat(depth - 2)}{}${'}'.repeat(depth - 2)}}`
    const json = { 'content-type': 'application/json' }

    const broken = await service.send(send(urlOf(form), '{"form": {}', json))
    const deep = await service.send(send(urlOf(form), nested(65), json))
    const allowed = await service.send(send(urlOf(form), nested(64), json))

    expect(refusalOf(broken)).toMatchObject({ code: 400, reason: 'MALFORMED_JSON' })
    expect(refusalOf(deep)).toMatchObject({ code: 400, reason: 'MALFORMED_JSON' })
    expect(refusalOf(allowed)).toMatchObject({ code: 400, fields: ['form.a'] })
  })

  it.each(['?validateOnly=true', '?x=1', '?x=1&x=2'])('rejects the query %s', async (query) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(send(urlOf(form) + query, { form: { tone: 'dry' } }))

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(await service.everyForm()).toEqual([form])
  })

  it.each([
    ['a viewer', { role: 'viewer' as const }, 'role'],
    ['a read-only key', { readOnly: true }, 'key'],
    ["an owner's read-only key", { role: 'owner' as const, readOnly: true }, 'key'],
  ])('rejects %s before it reads the body', async (_, identity, because) => {
    await using service = await startForms()
    const form = await service.given.form()

    for (const request of [patch(form, {}), dryPatch(form, {}), send(urlOf(form), 'no JSON')]) {
      expect(refusalOf(await service.send(request, identity))).toMatchObject({
        code: 403,
        status: 'PERMISSION_DENIED',
        reason: 'WRITE_FORBIDDEN',
        metadata: { because },
      })
    }
  })

  it('changes no form of another organization', async () => {
    await using service = await startForms()
    const other = randomUUID()
    const foreign = await service.given.form({}, other)
    const forge = `/organizations/${service.organizationId}/forms/${foreign.formId}`

    const asMine = await service.send(send(forge, { form: { tone: 'dry' } }))
    const asTheirs = await service.send(patch(foreign, { tone: 'dry' }))

    expect(refusalOf(asMine)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
    expect(refusalOf(asTheirs)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
    expect(await service.forms.get({ organizationId: other, formRef: foreign.formId })).toEqual(foreign)
  })
})
