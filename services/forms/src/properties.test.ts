import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '@fms/aip'
import { Form, outputOnlyFields } from '@fms/contracts'
import { createFormArbitrary } from '@fms/contracts/arbitrary'
import { parseDraft, type StoredForm } from '@fms/forms-store'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { mergeByTheBook, withDefaults } from './testing/draft-oracle.ts'
import {
  type MalformedRequest,
  malformedRequestArbitrary,
  tooLongRequestArbitrary,
  wrongMemberArbitrary,
} from './testing/malformed-request.arbitrary.ts'
import { type FormsService, refusalOf, startForms, urlOf } from './testing/start-forms.ts'

/** The value after JSON serialization, which has no -0. */
const overTheWire = <T>(value: T): T => JSON.parse(JSON.stringify(value))

const without = (form: object, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)))

/** The members of a form that clients write. */
const draftOf = (form: object): JsonObject => without(form, outputOnlyFields)

/** A valid form or patch, or one with at least one violation. */
const anyFields = fc.oneof(
  createFormArbitrary,
  fc.tuple(createFormArbitrary, wrongMemberArbitrary).map(([fine, wrong]) => ({ ...fine, ...wrong })),
) as fc.Arbitrary<JsonObject>

/** A patch that is usually valid: most do not change the type, which is fixed. */
const anyPatch = fc
  .tuple(anyFields, fc.nat(9))
  .map(([fields, keepType]) => (keepType === 0 ? fields : without(fields, ['type'])))

const anyIfMatch = fc.constantFrom(
  undefined,
  '*',
  '"1-draft.0"',
  '"0-", "1-"',
  '"2-draft.0"',
  'W/"1-"',
  '1-draft.0',
)

const outcomeOf = (response: Awaited<ReturnType<FormsService['send']>>) =>
  response.statusCode === 200 ? { code: 200 } : refusalOf(response)

describe('a dry run', () => {
  it('returns the same response as the real create, patch, delete, unpublish or rollback, and changes nothing', async () => {
    await using service = await startForms()
    const anyRequest = fc.record({
      kind: fc.constantFrom('create', 'patch', 'delete', 'unpublish', 'rollback'),
      isLive: fc.boolean(),
      fields: anyFields,
      patch: anyPatch,
      ifMatch: anyIfMatch,
      ref: fc.constantFrom('id', 'public id', 'id', 'missing'),
      inQuery: fc.boolean(),
      role: fc.constantFrom('editor' as const, 'owner' as const, 'editor' as const, 'viewer' as const),
    })
    const codes = new Set<string>()

    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ kind, isLive, fields, patch, ifMatch, ref, inQuery, role }) => {
        const form = await service.given.form()
        if (isLive) await service.given.revision(form)
        if (isLive && kind === 'rollback') await rename(service, form)
        const formRef = { id: form.formId, 'public id': form.publicId, missing: randomUUID() }[ref]!
        const forms = `/organizations/${form.organizationId}/forms`
        const requestWith = (validateOnly: boolean): InjectOptions => {
          const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
          if (kind === 'create')
            return { method: 'POST', url: forms, payload: { form: fields, validateOnly } }
          if (kind === 'patch') {
            return {
              method: 'PATCH',
              url: `${forms}/${formRef}`,
              payload: { form: patch, validateOnly },
              headers,
            }
          }
          if (kind === 'unpublish' || kind === 'rollback') {
            const action = kind === 'rollback' ? 'revisions/live/rollback' : kind
            return {
              method: 'POST',
              url: `${forms}/${formRef}/${action}`,
              payload: { validateOnly },
              headers,
            }
          }
          return inQuery
            ? { method: 'DELETE', url: `${forms}/${formRef}?validateOnly=${validateOnly}`, headers }
            : { method: 'DELETE', url: `${forms}/${formRef}`, payload: { validateOnly }, headers }
        }

        const before = await service.everyForm()
        const dry = await service.send(requestWith(true), { role })
        expect(await service.everyForm()).toEqual(before)
        const real = await service.send(requestWith(false), { role })

        expect(outcomeOf(dry)).toEqual(outcomeOf(real))
        expect(dry.headers.etag).toBeUndefined()
        if (real.statusCode === 200 && kind !== 'delete') {
          const unknown = kind === 'create' ? ['path', 'publicId', 'publicUrl'] : []
          expect(without(Form.parse(dry.json()), unknown)).toEqual(without(Form.parse(real.json()), unknown))
        }
        codes.add(`${kind} ${real.statusCode}`)
        await deleteAll(service)
      }),
      { numRuns: 500 },
    )
    expect([...codes].sort()).toEqual([
      ...['create 200', 'create 400', 'create 403'],
      ...['delete 200', 'delete 400', 'delete 403', 'delete 404', 'delete 412'],
      ...['patch 200', 'patch 400', 'patch 403', 'patch 404', 'patch 412'],
      ...['rollback 200', 'rollback 400', 'rollback 403', 'rollback 404', 'rollback 412'],
      ...['unpublish 200', 'unpublish 400', 'unpublish 403', 'unpublish 404', 'unpublish 412'],
    ])
  })
})

const rename = ({ send }: FormsService, form: StoredForm) =>
  send({ method: 'PATCH', url: urlOf(form), payload: { form: { name: 'Later' } } })

const deleteAll = async ({ forms, everyForm }: FormsService) => {
  for (const form of await everyForm()) await forms.delete({ ...form, formRef: form.formId }, () => {})
}

describe('a patch', () => {
  it('with the response of a read changes nothing, for any form', async () => {
    await using service = await startForms()
    const url = `/organizations/${service.organizationId}/forms`

    await fc.assert(
      fc.asyncProperty(createFormArbitrary, async (fields) => {
        const created = await service.send({ method: 'POST', url, payload: { form: fields } })
        expect(created.statusCode, created.body).toBe(200)
        const formUrl = `/${created.json().path}`
        const read = await service.send({ url: formUrl })
        service.clock.now = new Date(service.clock.now.getTime() + 1000)

        const patched = await service.send({ method: 'PATCH', url: formUrl, payload: { form: read.json() } })

        expect(patched.statusCode, patched.body).toBe(200)
        expect(patched.json()).toEqual(Form.parse(read.json()))
        expect(patched.headers.etag).toBe(read.headers.etag)
        expect(read.headers.etag).toBe(created.headers.etag)
      }),
      { numRuns: 200 },
    )
  })

  it('in a sequence gives the result of RFC 7396 and the defaults of draft-oracle.ts', async () => {
    await using service = await startForms()
    const url = `/organizations/${service.organizationId}/forms`
    const codes = { 200: 0, 400: 0 }

    await fc.assert(
      fc.asyncProperty(createFormArbitrary, fc.array(anyPatch, { maxLength: 6 }), async (fields, patches) => {
        const created = await service.send({ method: 'POST', url, payload: { form: fields } })
        let draft = withDefaults(mergeByTheBook({}, draftOf(overTheWire(fields) as JsonObject)) as JsonObject)
        let form = Form.parse(created.json())
        expect(draftOf(created.json())).toEqual(draft)

        for (const patch of overTheWire(patches)) {
          const response = await service.send({
            method: 'PATCH',
            url: `/${form.path}`,
            payload: { form: patch },
          })
          codes[response.statusCode as keyof typeof codes]++
          if (response.statusCode === 200) {
            const patched = withDefaults(mergeByTheBook(draft as Json, draftOf(patch)) as JsonObject)
            const moved = Form.parse(response.json()).updateTime > form.updateTime
            expect(draftOf(response.json())).toEqual(patched)
            expect(moved).toBe(!isDeepStrictEqual(patched, draft))
            draft = patched
            form = Form.parse(response.json())
          }
          expect((await service.send({ url: `/${form.path}` })).json()).toEqual(form)
        }
      }),
      { numRuns: 200 },
    )
    expect(codes[200]).toBeGreaterThan(100)
    expect(codes[400]).toBeGreaterThan(100)
  })

  it('survives 49 concurrent patches of other fields', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const texts = (names: string[]) => names.map((name) => ({ [name]: `new ${name}` }))
    const patches: JsonObject[] = [
      ...texts(['name', 'description', 'tone']),
      ...texts(['primaryColor', 'textSize', 'fontFamily', 'buttonSize', 'textAnimation']).map((theme) => ({
        theme,
      })),
      ...texts(['high', 'low', 'medium']).map((leadScoring) => ({ leadScoring })),
      ...texts(['category', 'description', 'industry', 'name']).map((marketplace) => ({ marketplace })),
      ...texts(['address', 'area', 'city']).map((location) => ({ marketplace: { location } })),
      ...['voice', 'aiHandoff', 'branding', 'marketplace'].map((name) => ({ [name]: { enabled: true } })),
      { context: ['new'] },
      { steps: [{ type: 'text', key: 'new' }] },
      { maxFollowUpQuestions: 50 },
      { defaultMode: 'voice' },
    ]
    while (patches.length < 50) {
      patches.push({ i18n: { translations: { [`x-${patches.length}`]: { name: { value: 'new' } } } } })
    }

    const responses = await Promise.all(
      patches.map((patch) => service.send({ method: 'PATCH', url: urlOf(form), payload: { form: patch } })),
    )

    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(200))
    const read = (await service.send({ url: urlOf(form) })).json()
    expect(draftOf(read)).toEqual(
      withDefaults(patches.reduce<Json>(mergeByTheBook, parseDraft(form) as unknown as Json) as JsonObject),
    )
    const updateTimes = responses.map((response) => Form.parse(response.json()).updateTime)
    expect(new Set(updateTimes).size).toBe(50)
    expect(read.updateTime).toBe(updateTimes.sort().at(-1))
  })
})

describe('a malformed request', () => {
  it('gets an error body, never INTERNAL, and changes no form', async () => {
    await using service = await startForms()
    const form: StoredForm = await service.given.form({ steps: [{ type: 'text', key: 'q' }] })
    await service.given.revision(form)
    const before = await service.everyForm()
    const reasons = new Set<string>()

    await fc.assert(
      fc.asyncProperty(malformedRequestArbitrary, async (requestAt) => {
        const request = requestAt(form)
        const response = await service.send(request)

        expect(response.statusCode, JSON.stringify(request)).toBeGreaterThanOrEqual(400)
        expect(response.statusCode, JSON.stringify(request)).toBeLessThan(500)
        const { reason } = refusalOf(response)
        expect(await service.everyForm()).toEqual(before)
        reasons.add(reason)
      }),
      { numRuns: 600 },
    )
    expect([...reasons].sort()).toEqual([
      'BODY_TOO_LARGE',
      'EVENT_NOT_FOUND',
      'FORM_MOVED',
      'FORM_NOT_FOUND',
      'INVALID_FILTER',
      'INVALID_IF_MATCH',
      'INVALID_ORDER_BY',
      'INVALID_PAGE_TOKEN',
      'INVALID_REQUEST',
      'MALFORMED_JSON',
      'MALFORMED_REQUEST',
      'METHOD_NOT_ALLOWED',
      'ORGANIZATION_NOT_FOUND',
      'PATH_NOT_FOUND',
      'REVISION_NOT_FOUND',
      'UNSUPPORTED_MEDIA_TYPE',
    ])
  })
})

describe('a duplicate member of the body', () => {
  const twice = ['"validateOnly":true,"validateOnly":false', '"validateOnly":true,"validat\\u0065Only":false']
  const padding = ' '.repeat(100_000)

  it.each(
    twice.flatMap(
      (members) =>
        [
          [members, ''],
          [members, padding],
        ] as const,
    ),
  )('rejects the request: %s', async (given, padding) => {
    const members = given + padding
    await using service = await startForms()
    const form = await service.given.form()
    const before = await service.everyForm()
    const ofForms = `/organizations/${service.organizationId}/forms`
    const headers = { 'content-type': 'application/json' }
    const requests: InjectOptions[] = [
      { method: 'POST', url: ofForms, payload: `{"form":{},${members}}`, headers },
      { method: 'PATCH', url: urlOf(form), payload: `{"form":{"name":"b"},${members}}`, headers },
      { method: 'DELETE', url: urlOf(form), payload: `{${given}}`, headers },
      { method: 'PATCH', url: urlOf(form), payload: '{"form":{"name":"b"},"form":{"name":"c"}}', headers },
    ]

    for (const request of requests) {
      const refusal = refusalOf(await service.send(request))
      expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
      expect(refusal.violations[0]!.description).toBe('is given twice')
    }
    expect(await service.everyForm()).toEqual(before)
  })

  it('is accepted inside of the form, where the last one counts', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({
      method: 'PATCH',
      url: urlOf(form),
      payload: '{"form":{"name":"a","name":"b"}}',
      headers: { 'content-type': 'application/json' },
    })

    expect(response.json().name).toBe('b')
  })
})

describe('a large body', () => {
  it('gets the same response as a small one, for any content', async () => {
    await using small = await startForms({ inlineLimit: 2 * 1024 * 1024 })
    await using large = await startForms({ inlineLimit: 0 })
    const [formOfSmall, formOfLarge] = [await small.given.form(), await large.given.form()]
    const codes = new Set<number>()
    const anyWrite = fc
      .record({ fields: anyFields, isPatch: fc.boolean(), validateOnly: fc.boolean(), further: fc.boolean() })
      .map(
        ({ fields, isPatch, validateOnly, further }): MalformedRequest =>
          ({ organizationId, formId }) => ({
            method: isPatch ? 'PATCH' : 'POST',
            url: `/organizations/${organizationId}/forms${isPatch ? `/${formId}` : ''}`,
            payload: { form: fields, validateOnly, ...(further && { further: { a: [] } }) },
          }),
      )

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyWrite, malformedRequestArbitrary, tooLongRequestArbitrary),
        async (requestAt) => {
          const [inSmall, inLarge] = [
            await small.send(requestAt(formOfSmall)),
            await large.send(requestAt(formOfLarge)),
          ]

          expect(comparable(inLarge, formOfLarge)).toEqual(comparable(inSmall, formOfSmall))
          codes.add(inSmall.statusCode)
        },
      ),
      { numRuns: 600 },
    )
    expect([...codes]).toEqual(expect.arrayContaining([200, 400, 404, 413]))
  })
})

/** A response without the parts that differ between forms. */
const comparable = ({ statusCode, body }: Awaited<ReturnType<FormsService['send']>>, form: StoredForm) => ({
  statusCode,
  body: body
    .replaceAll(form.organizationId, 'ORGANIZATION')
    .replaceAll(form.formId, 'FORM')
    .replaceAll(form.publicId, 'PUBLIC')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/"publicId":"\w{10}"/g, '')
    .replaceAll(/forms\.example\/f\/\w{10}/g, ''),
})
