import { randomUUID } from 'node:crypto'
import { AnswerBundle, maxGetFormsBytes, maxGets } from '@fms/contracts'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../testing.ts'

type Identity = Parameters<FormsService['send']>[1]

const getForms = (service: FormsService, gets: object[], identity: Identity = {}) =>
  service.send(
    {
      method: 'POST',
      url: `/internal/organizations/${service.organizationId}/get-forms`,
      payload: { gets },
    },
    identity,
  )

const answersTo = async (service: FormsService, gets: object[], identity: Identity = {}) => {
  const response = await getForms(service, gets, identity)
  expect(response.statusCode).toBe(200)
  return AnswerBundle.decode(response.rawPayload).map(
    (answer) => answer && { ...answer, body: answer.body.toString() },
  )
}

describe('the question for several forms', () => {
  it('answers each as a get by itself would', async () => {
    await using service = await startForms()
    const [first, second] = [await service.given.form({ name: 'Ünïcode ☃\n' }), await service.given.form()]
    const foreign = await service.given.form({}, randomUUID())
    await service.given.revision(second)
    const etag = (await service.send({ url: urlOf(first) })).headers.etag as string
    const gets = [
      { formRef: first.formId },
      { formRef: second.publicId },
      { formRef: first.formId.toUpperCase(), ifNoneMatch: etag },
      { formRef: first.formId, ifNoneMatch: '"other"' },
      { formRef: randomUUID() },
      { formRef: foreign.formId },
      { formRef: 'no_such' },
    ].map((get, index) => ({ ...get, requestId: `r-${index}` }))

    const answers = await answersTo(service, gets)

    const alone = await Promise.all(
      gets.map(
        async ({ formRef, requestId, ifNoneMatch }: (typeof gets)[number] & { ifNoneMatch?: string }) => {
          const { statusCode, headers, body } = await service.send({
            url: `/organizations/${service.organizationId}/forms/${formRef}`,
            headers: { 'x-request-id': requestId, ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }) },
          })
          return { status: statusCode, ...(headers.etag && { etag: headers.etag }), body }
        },
      ),
    )
    expect(answers).toEqual(alone)
    expect(answers.map((answer) => answer?.status)).toEqual([200, 200, 304, 200, 404, 404, 404])
  })

  it('leaves out what is too long to go with the others', async () => {
    await using service = await startForms()
    const short = await service.given.form()
    const step = { type: 'text', title: 'x'.repeat(maxGetFormsBytes / 100) }
    const long = await service.given.form({
      steps: Array.from({ length: 60 }, (_, index) => ({ ...step, key: `k${index}` })),
    })
    const refs = [long, short, long, short]

    const answers = await answersTo(
      service,
      refs.map(({ formId }) => ({ formRef: formId, requestId: 'r' })),
    )

    expect(answers.map((answer) => answer?.status)).toEqual([200, 200, undefined, 200])
  })

  it('is a read: viewers and read-only keys may', async () => {
    await using service = await startForms()
    const { formId } = await service.given.form()

    const [answer] = await answersTo(service, [{ formRef: formId, requestId: 'r' }], {
      role: 'viewer',
      readOnly: true,
    })

    expect(answer).toMatchObject({ status: 200 })
  })

  it('knows no organization but the one the gateway vouches for', async () => {
    await using service = await startForms()
    const { formId } = await service.given.form()

    const response = await getForms(service, [{ formRef: formId, requestId: 'r' }], {
      organizationId: randomUUID(),
    })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it.each([
    ['nothing', []],
    ['too much', Array.from({ length: maxGets + 1 }, () => ({ formRef: 'a', requestId: 'r' }))],
    ['a get without an id', [{ formRef: 'a' }]],
    ['more than it knows of', [{ formRef: 'a', requestId: 'r', ifMatch: '*' }]],
  ])('refuses %s', async (_, gets) => {
    await using service = await startForms()

    expect(refusalOf(await getForms(service, gets))).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })

  it('has a line in the log for each get, under its id, and none of its own', async () => {
    const lines: { request_id?: string }[] = []
    const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
    await using service = await startForms({ logger })
    const { formId } = await service.given.form()

    await getForms(service, [
      { formRef: formId, requestId: 'r-1' },
      { formRef: randomUUID(), requestId: 'r-2' },
    ])

    const line = {
      msg: 'answered',
      method: 'GET',
      route: '/organizations/:organizationId/forms/:formRef',
      duration_ms: expect.any(Number),
      user: expect.any(String),
      organization: service.organizationId,
    }
    expect(lines).toEqual([
      expect.objectContaining({ ...line, request_id: 'r-1', status: 200 }),
      expect.objectContaining({ ...line, request_id: 'r-2', status: 404 }),
    ])
  })

  it('fails as a whole where the store does', async () => {
    await using service = await startForms()
    const { formId } = await service.given.form()
    await service.forms.close()

    const response = await getForms(service, [{ formRef: formId, requestId: 'r' }])

    expect(refusalOf(response)).toMatchObject({ code: 503, reason: 'STORE_UNAVAILABLE' })
  })
})
