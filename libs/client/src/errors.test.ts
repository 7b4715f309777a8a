import { describe, expect, expectTypeOf, it } from 'vitest'
import { FormsApiError, FormsConnectionError, isReason } from './index.ts'
import { failure, startServer } from './testing.ts'

const failed = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error) => error,
  )

describe('FormsApiError', () => {
  it('has the parts of the error response', async () => {
    const type = (name: string) => `type.googleapis.com/google.rpc.${name}`
    const fieldViolations = [{ field: 'form.nmae', description: 'is not a known field' }]
    const violations = [{ type: 'QUESTIONS', subject: 'form.steps', description: 'has no question' }]
    const answer = failure(400, 'INVALID_REQUEST', {
      metadata: { field: 'form.nmae' },
      details: [
        { '@type': type('BadRequest'), fieldViolations },
        { '@type': type('PreconditionFailure'), violations },
        { '@type': type('RetryInfo'), retryDelay: '1.5s' },
        { '@type': type('RequestInfo'), requestId: 'abc' },
      ],
    })
    await using server = await startServer([answer])

    const error = await failed(server.client.forms.create('acme', {}))

    expect(error).toBeInstanceOf(FormsApiError)
    expect({ ...error, message: error.message }).toEqual({
      name: 'FormsApiError',
      message: 'Because of INVALID_REQUEST.',
      code: 400,
      status: 'UNAVAILABLE',
      reason: 'INVALID_REQUEST',
      metadata: { field: 'form.nmae' },
      fieldViolations,
      preconditionViolations: violations,
      requestId: 'abc',
      retryAfterSeconds: 1.5,
    })
  })

  it.each([
    [431, ''],
    [502, '<html>Bad gateway</html>'],
    [400, '{"error": "no"}'],
    [200, 'Welcome to the hotel'],
    [200, 'null'],
    [200, '"OK"'],
  ])('has the reason UNKNOWN for a %i with %j, which is not from the API', async (status, text) => {
    const headers = { 'x-request-id': 'abc', 'retry-after': '3' }
    await using server = await startServer([{ status, text, headers }], { maxRetries: 0 })

    const error = await failed(server.client.forms.get('acme', 'form'))

    expect(error).toMatchObject({ code: status, status: 'UNKNOWN', reason: 'UNKNOWN', metadata: {} })
    expect(error).toMatchObject({ fieldViolations: [], requestId: 'abc', retryAfterSeconds: 3 })
    expect(error.message).toContain(String(status))
  })

  it.each([
    ['Fri, 01 Jan 2021 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('reads a Retry-After of %s as %s', async (text, seconds) => {
    await using server = await startServer([{ status: 404, headers: { 'retry-after': text } }])

    expect(await failed(server.client.organizations.all())).toMatchObject({ retryAfterSeconds: seconds })
  })
})

describe('FormsConnectionError', () => {
  it('names the request and the cause, but not the key', async () => {
    await using server = await startServer(['hang up'], { maxRetries: 0 })

    const error = await failed(server.client.organizations.all())

    expect(error).toBeInstanceOf(FormsConnectionError)
    expect(error.message).toMatch(/^No response to GET http:.*\/v2\/organizations\?all=true: \w/)
    expect(error.cause).toBeInstanceOf(TypeError)
    expect(error.message).not.toContain('fms_test')
  })
})

describe('isReason', () => {
  it('matches the given reasons and narrows the type', () => {
    const error: unknown = new FormsApiError(
      new Response(null, { status: 404 }),
      JSON.stringify((failure(404, 'FORM_NOT_FOUND') as { body: unknown }).body),
    )

    expect(isReason(error, 'FORM_NOT_FOUND')).toBe(true)
    expect(isReason(error, 'FORM_MOVED', 'FORM_NOT_FOUND')).toBe(true)
    expect(isReason(error, 'FORM_MOVED')).toBe(false)
    expect(isReason(new Error('FORM_NOT_FOUND'), 'FORM_NOT_FOUND')).toBe(false)
    if (isReason(error, 'FORM_MOVED', 'FORM_NOT_FOUND')) {
      expectTypeOf(error.reason).toEqualTypeOf<'FORM_MOVED' | 'FORM_NOT_FOUND'>()
    }
  })
})
