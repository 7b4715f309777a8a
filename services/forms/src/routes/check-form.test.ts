import { randomUUID } from 'node:crypto'
import { FormCheck } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms } from '../testing/start-forms.ts'

const post = (service: FormsService, path: string, payload: object, identity = {}) =>
  service.send({ method: 'POST', url: `/organizations/${service.organizationId}${path}`, payload }, identity)

const misspelt = {
  steps: [
    { type: 'ratign', key: 'q', titel: 'Stars', branches: [{ targetStepKey: 'gone', groups: [[]] }] },
    { type: 'end', key: 'end', titel: 'Bye' },
  ],
  theme: { primaryColor: 'teal' },
}

describe('POST /organizations/{organization}/forms/check', () => {
  it.each([
    ['here', undefined],
    ['in a worker thread', 10],
  ])('tells what a publish would report, and warns: checked %s', async (_, inlineLimit) => {
    await using service = await startForms(inlineLimit === undefined ? {} : { inlineLimit })

    const response = await post(service, '/forms/check', { form: misspelt })

    expect(response.statusCode).toBe(200)
    const { publishable, violations, warnings } = FormCheck.parse(response.json())
    expect({ publishable, violations }).toMatchObject({
      publishable: false,
      violations: [{ type: 'BRANCH_TARGET', subject: 'form.steps[0].branches[0].targetStepKey' }],
    })
    expect(warnings.map(({ reason, field }) => `${reason} ${field}`)).toEqual([
      'TYPE_UNKNOWN form.steps[0].type',
      'MEMBER_UNKNOWN form.steps[0].titel',
      'MEMBER_MISSING form.steps[0].title',
      'MEMBER_MISSING form.steps[0].max',
      'MEMBER_UNKNOWN form.steps[1].titel',
      'MEMBER_MISSING form.steps[1].title',
      'BRANCH_TARGET_MISSING form.steps[0].branches[0].targetStepKey',
      'STEP_UNREACHABLE form.steps[1]',
      'COLOR_INVALID form.theme.primaryColor',
    ])
  })

  it('warns of nothing that a create would not store as sent', async () => {
    await using service = await startForms()

    const created = await post(service, '/forms', { form: misspelt })

    expect(created.json()).toMatchObject(misspelt)
  })

  it('stores nothing, and costs no quota', async () => {
    await using service = await startForms({ quota: { forms: 1, bytes: 0 } })
    const form = await service.given.form()

    expect((await post(service, '/forms/check', { form: {} })).statusCode).toBe(200)
    expect(await service.everyForm()).toEqual([form])
  })

  it('is there for viewers and read-only keys', async () => {
    await using service = await startForms()

    const response = await post(service, '/forms/check', { form: {} }, { role: 'viewer', readOnly: true })

    expect(response.json()).toMatchObject({
      publishable: false,
      violations: [{ type: 'QUESTIONS' }],
      warnings: [],
    })
  })

  it('refuses what a create would refuse, and suggests the member that was meant', async () => {
    await using service = await startForms()

    const refusal = refusalOf(
      await post(service, '/forms/check', { form: { nmae: 'x', theme: { color: '' } } }),
    )

    expect(refusal).toMatchObject({
      code: 400,
      reason: 'INVALID_REQUEST',
      violations: [
        { field: 'form.theme.color', description: 'is not a known field' },
        { field: 'form.nmae', description: 'is not a known field: did you mean name?' },
      ],
    })
  })

  it('ends a question with its mark alone', async () => {
    await using service = await startForms()

    const { body } = await post(service, '/forms/check', { form: { nmae: 'x' } })

    expect(JSON.parse(body).error.message).toMatch(/^form\.nmae .* did you mean name\? Correct the fields/)
  })

  it.each([{}, { form: [] }, { form: {}, validateOnly: true }])('rejects the body %j', async (body) => {
    await using service = await startForms()

    expect(refusalOf(await post(service, '/forms/check', body))).toMatchObject({ reason: 'INVALID_REQUEST' })
  })

  it('does not respond to members of another organization', async () => {
    await using service = await startForms()

    const response = await post(service, '/forms/check', { form: {} }, { organizationId: randomUUID() })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })
})
