import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../services/gateway/src/openapi/build-openapi.ts'
import { form, organization } from '../services/gateway/src/openapi/examples.ts'
import { checkAnswers } from './openapi-answers.ts'

const check = checkAnswers(buildOpenApi())

const path = '/organizations/acme/forms/Ab3dE6gH9j'
const answer = (status: number, body?: unknown, headers: Record<string, string> = {}) => ({
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

describe('an answer', () => {
  it.each<[string, string, string, ReturnType<typeof answer>]>([
    ['a form', 'GET', path, answer(200, form, { etag: '"1"' })],
    ['nothing new', 'GET', path, answer(304, undefined, { etag: '"1"' })],
    ['the head of a form', 'HEAD', path, answer(200, undefined, { etag: '"1"' })],
    ['every organization', 'GET', '/organizations?all=true', answer(200, { organizations: [organization] })],
    ['a reason of the operation', 'GET', path, answer(404, notFound('FORM_NOT_FOUND'))],
    ['an error for an unknown path', 'GET', '/form', answer(404, notFound('PATH_NOT_FOUND'))],
  ])('passes: %s', (_, method, path, answer) => {
    expect(() => check(method, path, answer)).not.toThrow()
  })

  it.each<[string, string, string, ReturnType<typeof answer>]>([
    ['a status that the operation does not have', 'GET', path, answer(409, notFound('FORM_NOT_FOUND'))],
    ['a reason that the operation does not have', 'GET', path, answer(404, notFound('REVISION_NOT_FOUND'))],
    [
      'a header that it does not name',
      'GET',
      '/organizations/acme',
      answer(200, organization, { etag: '"1"' }),
    ],
    ['a form that lacks a member', 'GET', path, answer(200, { ...form, name: undefined })],
    ['a form with a member too many', 'GET', path, answer(200, { ...form, further: 1 })],
    ['a member of another type', 'GET', path, answer(200, { ...form, replyCount: '0' })],
    ['a body where there is none', 'GET', path, answer(304, form)],
    ['a success that no operation has', 'PUT', path, answer(200, form)],
    ['an error without the body of one', 'GET', '/form', answer(404, { error: 'not found' })],
  ])('does not pass: %s', (_, method, path, answer) => {
    expect(() => check(method, path, answer)).toThrow(`${method} ${path} ${answer.status}`)
  })

  it('does not pass without a request id', () => {
    expect(() => check('GET', path, { ...answer(200, form), headers: new Headers() })).toThrow('x-request-id')
  })
})
