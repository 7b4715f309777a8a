import {
  AnswerBundle,
  type BundledAnswer,
  type GetFormsRequest,
  identityHeader,
  type ReadListsRequest,
} from '@fms/contracts'
import type { FastifyRequest } from 'fastify'
import type { Answer } from './gather.ts'
import type { Upstream } from './upstreams.ts'

/** What forms answers several of, by the last segment of its path. */
interface Questions {
  'get-forms': GetFormsRequest
  'read-lists': ReadListsRequest
}

/**
 * Asks forms for several things at once.
 *
 * @param first of those that ask, who are all the same caller.
 * @returns nothing where forms has no 200 for all of them.
 */
export const askBundle = async <Name extends keyof Questions>(
  forms: Upstream,
  name: Name,
  { id, identity, caller }: FastifyRequest,
  question: Questions[Name],
): Promise<(Answer | undefined)[]> => {
  const { statusCode, body } = await forms.request({
    method: 'POST',
    path: `/internal/organizations/${identity.organizationId}/${name}`,
    headers: { 'content-type': 'application/json', 'x-request-id': id, [identityHeader]: caller.token() },
    body: JSON.stringify(question),
    // A question, though it is a POST.
    idempotent: true,
  })
  return statusCode === 200 ? AnswerBundle.decode(body as Buffer).map(toAnswer) : []
}

const toAnswer = (answer: BundledAnswer<Buffer> | undefined): Answer | undefined =>
  answer && {
    statusCode: answer.status,
    headers: {
      etag: answer.etag,
      ...(answer.status !== 304 && {
        'content-type': 'application/json; charset=utf-8',
        'content-length': `${answer.body.length}`,
      }),
    },
    body: answer.body,
  }
