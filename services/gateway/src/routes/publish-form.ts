import { randomUUIDv7 } from 'node:crypto'
import { ApiError, parseIfMatch } from '@fms/aip'
import { NoQuery, PublishFormRequest } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { PublisherClient } from '../publish/publisher-client.ts'

export interface PublishFormOptions {
  path: string
  publisher: PublisherClient
  publishTimeoutMs: number
}

const Params = z.object({ organizationRef: z.string(), formRef: z.string() })

/**
 * Have the draft frozen as a revision (AIP-162). One durable command carries all of it; a request without `requestId`
 * gets one here, so that an answer which does not arrive in time says what makes a repeat safe.
 */
export const publishForm: FastifyPluginAsyncZod<PublishFormOptions> = async (
  app,
  { path, publisher, publishTimeoutMs },
) => {
  app.post(
    path,
    {
      schema: { params: Params, querystring: NoQuery, body: PublishFormRequest },
      config: { parsesEnvelopeOnly: true },
    },
    async ({ id, params, body, headers, identity }, reply) => {
      const gone = new AbortController()
      // With a reason, which is cheaper than the error that Node would make.
      reply.raw.once('close', () => gone.abort('the caller has gone'))
      const command = {
        commandId: body.requestId ?? randomUUIDv7(),
        organizationId: identity.organizationId!,
        formRef: params.formRef,
        userId: identity.userId,
        validateOnly: body.validateOnly,
        ifMatch: parseIfMatch(headers['if-match']),
      }
      const published = await publisher.publishForm(command, publishTimeoutMs, id, gone.signal)
      if (!published) return
      if (published.outcome === 'refused') throw ApiError.fromProblem(published.problem)
      // What a dry run shows is no state of the form.
      if (!body.validateOnly) reply.header('etag', published.etag)
      return reply.type('application/json; charset=utf-8').send(published.formJson)
    },
  )
}
