import { randomUUID } from 'node:crypto'
import { Form } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { refusalOf, startForms, testBaseUrl } from '../testing/start-forms.ts'

const create = (organizationId: string, payload: unknown) => ({
  method: 'POST' as const,
  url: `/organizations/${organizationId}/forms`,
  payload: payload as object,
})

describe('POST /organizations/{organization}/forms', () => {
  it('sets omitted fields to their defaults', async () => {
    await using service = await startForms()

    const response = await service.send(create(service.organizationId, { form: {} }))

    expect(response.statusCode).toBe(200)
    const form = Form.parse(response.json())
    expect(form).toMatchObject({
      name: 'Untitled form',
      type: 'structured',
      defaultMode: 'guided',
      maxFollowUpQuestions: 3,
      live: false,
      replyCount: 0,
      createTime: '2026-11-20T09:30:00.000Z',
      updateTime: '2026-11-20T09:30:00.000Z',
      publicUrl: `${testBaseUrl}/${form.publicId}`,
    })
    expect(response.headers.etag).toMatch(/^"1-/)
  })

  it('ignores output-only fields, and treats null as omitted', async () => {
    await using service = await startForms()

    const response = await service.send(
      create(service.organizationId, {
        form: {
          path: 'mine',
          publicId: 5,
          live: true,
          replyCount: 9,
          tone: null,
          theme: { primaryColor: null },
        },
      }),
    )

    expect(response.json()).toMatchObject({ live: false, replyCount: 0, tone: 'professional' })
    expect(response.json().theme.primaryColor).toBe('#2563eb')
  })

  it.each([
    ['here', undefined],
    ['in a worker thread', 10],
  ])('returns 0 for -0 anywhere: checked %s', async (_, inlineLimit) => {
    await using service = await startForms(inlineLimit === undefined ? {} : { inlineLimit })
    const zeros = (zero: string) =>
      `{"form":{"maxFollowUpQuestions":${zero},"theme":{"buttonRadiusPx":${zero}},"steps":[{"type":"rating","key":"q","max":[${zero},{"deep":${zero}}]}]}}`
    const send = (zero: string) =>
      service.send({
        ...create(service.organizationId, zeros(zero)),
        headers: { 'content-type': 'application/json' },
      })

    for (const zero of ['-0', '-0.0', '-0e3', '-1e-400']) {
      const created = await send(zero)
      expect(created.statusCode).toBe(200)
      const { publicId } = created.json()
      const read = await service.send({
        url: `/organizations/${service.organizationId}/forms/${publicId}`,
      })
      for (const { body } of [created, read]) {
        expect(body).not.toMatch(/:-|\[-/)
        expect(JSON.parse(body)).toMatchObject(JSON.parse(zeros('0')).form)
      }
    }
  })

  it('reports all violations, by path', async () => {
    await using service = await startForms()

    const response = await service.send(
      create(service.organizationId, {
        form: {
          nmae: null,
          name: null,
          theme: { buttonRadiusPx: '8', colour: 'red' },
          defaultMode: 'voice',
          steps: [{ type: 'payment', key: 'p' }, { type: 'start', key: 'p', extra: 1 }, { key: 'x y' }],
        },
      }),
    )

    expect(response.statusCode).toBe(400)
    const [info, badRequest] = response.json().error.details
    expect(info).toMatchObject({ reason: 'INVALID_REQUEST', domain: 'forms' })
    expect(badRequest.fieldViolations.map(({ field }: { field: string }) => field).sort()).toEqual([
      'form.defaultMode',
      'form.name',
      'form.nmae',
      'form.steps[1].extra',
      'form.steps[1].key',
      'form.steps[2].key',
      'form.steps[2].type',
      'form.theme.buttonRadiusPx',
      'form.theme.colour',
    ])
  })

  it('checks the request and stores nothing with validateOnly', async () => {
    await using service = await startForms()

    const response = await service.send(
      create(service.organizationId, { form: { name: 'Dry' }, validateOnly: true }),
    )

    expect(response.json()).toMatchObject({
      name: 'Dry',
      path: `organizations/${service.organizationId}/forms/00000000-0000-0000-0000-000000000000`,
      publicId: '',
      publicUrl: '',
    })
    expect(response.headers.etag).toBeUndefined()
    const { totalSize } = await service.forms.list({
      organizationId: service.organizationId,
      orderBy: [],
      limit: 1,
      skip: 0,
    })
    expect(totalSize).toBe(0)
  })

  it.each([
    ['a misspelt member', { form: {}, validateonly: true }, 'validateonly'],
    ['a null in an unknown member', { form: {}, validateonly: null }, 'validateonly'],
    ['no form', {}, 'form'],
    ['a form that is no object', { form: [] }, 'form'],
    ['a word for a boolean', { form: {}, validateOnly: 'true' }, 'validateOnly'],
  ])('rejects a body with %s', async (_, payload, field) => {
    await using service = await startForms()

    const response = await service.send(create(service.organizationId, payload))

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toEqual([expect.objectContaining({ field })])
  })

  it('rejects a form of more than 768 KiB', async () => {
    await using service = await startForms()

    const response = await service.send(
      create(service.organizationId, { form: { context: Array(900).fill('x'.repeat(900)) } }),
    )

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toEqual([
      expect.objectContaining({ field: 'form' }),
    ])
  })

  it.each([
    ['a viewer', { role: 'viewer' as const }],
    ['a read-only key', { readOnly: true }],
  ])('rejects %s', async (_, identity) => {
    await using service = await startForms()

    const response = await service.send(create(service.organizationId, { form: {} }), identity)

    expect(response.statusCode).toBe(403)
    expect(response.json().error.details[0].reason).toBe('WRITE_FORBIDDEN')
  })

  it('requires the identity token of the gateway', async () => {
    await using service = await startForms()

    const response = await service.app.inject(create(service.organizationId, { form: {} }))

    expect(response.statusCode).toBe(401)
    expect(response.json().error.details[0].reason).toBe('IDENTITY_REQUIRED')
  })

  it.each(['?validateOnly=true', '?x=1', '?x=1&x=2'])('rejects the query %s', async (query) => {
    await using service = await startForms()
    const request = create(service.organizationId, { form: {} })

    const response = await service.send({ ...request, url: request.url + query })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(await service.everyForm()).toEqual([])
  })

  it('creates nothing in another organization', async () => {
    await using service = await startForms()
    const other = randomUUID()

    for (const validateOnly of [false, true]) {
      const response = await service.send(create(other, { form: {}, validateOnly }))
      expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
    }
    const { totalSize } = await service.forms.list({ organizationId: other, orderBy: [], limit: 1, skip: 0 })
    expect(totalSize).toBe(0)
  })
})
