import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../services/gateway/src/openapi/build-openapi.ts'
import { form, organization } from '../services/gateway/src/openapi/examples.ts'
import { createResponseCheck } from './openapi-responses.ts'

const check = createResponseCheck(buildOpenApi())

const path = '/organizations/acme/forms/Ab3dE6gH9j'
const response = (status: number, body?: unknown, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers: new Headers({ 'x-request-id': 'r', ...headers }),
})
const notFound = (reason: string) => ({
  error: {
    code: 404,
    status: 'NOT_FOUND',
    message: 'Not there.',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'forms', metadata: {} },
      { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: 'r' },
    ],
  },
})

describe('createResponseCheck', () => {
  it.each<[string, string, string, ReturnType<typeof response>]>([
    ['a form', 'GET', path, response(200, form, { etag: '"1"' })],
    ['the members of a mask', 'GET', `${path}?readMask=name`, response(200, { name: 'x' })],
    ['a 304', 'GET', path, response(304, undefined, { etag: '"1"' })],
    ['a response to HEAD', 'HEAD', path, response(200, undefined, { etag: '"1"' })],
    [
      'a list of all organizations',
      'GET',
      '/organizations?all=true',
      response(200, { organizations: [organization] }),
    ],
    ['a declared reason', 'GET', path, response(404, notFound('FORM_NOT_FOUND'))],
    ['an error for an unknown path', 'GET', '/form', response(404, notFound('PATH_NOT_FOUND'))],
  ])('accepts %s', (_, method, path, response) => {
    expect(() => check(method, path, response)).not.toThrow()
  })

  it.each<[string, string, string, ReturnType<typeof response>]>([
    ['a status that the operation does not declare', 'GET', path, response(409, notFound('FORM_NOT_FOUND'))],
    [
      'a reason that the operation does not declare',
      'GET',
      path,
      response(404, notFound('REVISION_NOT_FOUND')),
    ],
    [
      'a header that the operation does not declare',
      'GET',
      '/organizations/acme',
      response(200, organization, { etag: '"1"' }),
    ],
    ['a form without a required member', 'GET', path, response(200, { ...form, name: undefined })],
    [
      'an unknown member with a mask',
      'GET',
      `${path}?readMask=name`,
      response(200, { name: 'x', further: 1 }),
    ],
    ['a form with an unknown member', 'GET', path, response(200, { ...form, further: 1 })],
    ['a member of the wrong type', 'GET', path, response(200, { ...form, replyCount: '0' })],
    ['a body with a 304', 'GET', path, response(304, form)],
    ['a success outside of every operation', 'PUT', path, response(200, form)],
    ['an error that is not in the error format', 'GET', '/form', response(404, { error: 'not found' })],
  ])('rejects %s', (_, method, path, response) => {
    expect(() => check(method, path, response)).toThrow(`${method} ${path} ${response.status}`)
  })

  it('rejects a response without a request id', () => {
    expect(() => check('GET', path, { ...response(200, form), headers: new Headers() })).toThrow(
      'x-request-id',
    )
  })
})
