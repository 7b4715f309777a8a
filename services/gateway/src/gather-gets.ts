import { type FormAnswer, FormAnswers, type GetFormsRequest, identityHeader, maxGets } from '@fms/contracts'
import { isTracing } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import type { Answer } from './gather.ts'
import { type Ask, harmlessRef } from './proxy.ts'
import type { Upstream } from './upstreams.ts'

interface Waiting {
  request: FastifyRequest
  resolve: (answer: Answer | Promise<Answer>) => void
  reject: (error: unknown) => void
}

/**
 * Gets of a form by one caller that arrive in the same turn of the event loop go on as one question, and those that
 * arrive until its answer is there as the next. One that is alone goes its own way, and so does everything that is no
 * plain get (decision 8).
 */
export const gatherGets = (forms: Upstream, alone: Ask): Ask => {
  /** By token, from its first get until none is left to be sent. */
  const queues = new Map<string, Waiting[]>()

  const askOn = async (token: string) => {
    const queue = queues.get(token)!
    while (queue.length > 0) await answer(token, queue.splice(0, maxGets))
    queues.delete(token)
  }

  const answer = async (token: string, gets: Waiting[]) => {
    try {
      const answers = gets.length > 1 ? await askTogether(forms, token, gets) : []
      for (const [index, { request, resolve }] of gets.entries()) resolve(answers[index] ?? alone(request))
    } catch (error) {
      for (const { reject } of gets) reject(error)
    }
  }

  return (request) => {
    if (request.method !== 'GET' || request.raw.url!.includes('?') || isTracing()) return alone(request)
    return new Promise((resolve, reject) => {
      const token = request.caller.token()
      const get = { request, resolve, reject }
      const queue = queues.get(token)
      if (queue) {
        queue.push(get)
        return
      }
      queues.set(token, [get])
      setImmediate(askOn, token)
    })
  }
}

/** @returns nothing where each shall ask by itself, which gives it the answer under its own id. */
const askTogether = async (
  forms: Upstream,
  token: string,
  gets: Waiting[],
): Promise<(Answer | undefined)[]> => {
  // A token speaks for one organization.
  const { id, identity } = gets[0]!.request
  const { statusCode, body } = await forms.request({
    method: 'POST',
    path: `/internal/organizations/${identity.organizationId}/get-forms`,
    headers: { 'content-type': 'application/json', 'x-request-id': id, [identityHeader]: token },
    body: JSON.stringify({ gets: gets.map(({ request }) => toGet(request)) }),
    // A question, though it is a POST.
    idempotent: true,
  })
  return statusCode === 200 ? FormAnswers.decode(body as Buffer).map(toAnswer) : []
}

const toGet = ({ id, params, headers }: FastifyRequest): GetFormsRequest['gets'][number] => ({
  formRef: harmlessRef((params as { formRef: string }).formRef),
  requestId: id,
  ifNoneMatch: headers['if-none-match'],
})

const toAnswer = (answer: FormAnswer<Buffer> | undefined): Answer | undefined =>
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
