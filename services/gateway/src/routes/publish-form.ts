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
 * Publishes the draft as a revision (AIP-162) by sending one durable command. A request without `requestId` gets a
 * generated one, so that a timeout error has the id that makes a repeat safe.
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
      const controller = new AbortController()
      // With a reason: without one, Node creates an error, which costs more.
      reply.raw.once('close', () => controller.abort('the caller has disconnected'))
      const command = {
        commandId: body.requestId ?? randomUUIDv7(),
        organizationId: identity.organizationId!,
        formRef: params.formRef,
        userId: identity.userId,
        key: identity.key,
        validateOnly: body.validateOnly,
        ...(body.note && { note: body.note }),
        ...(body.refuseBreaking && { refuseBreaking: true }),
        ifMatch: parseIfMatch(headers['if-match']),
      }
      const published = await publisher.publishForm(command, publishTimeoutMs, id, controller.signal)
      if (!published) return
      if (published.outcome === 'refused') throw ApiError.fromProblem(published.problem)
      // A dry run's form is not stored, so it has no ETag.
      if (!body.validateOnly) reply.header('etag', published.etag)
      return reply.type('application/json; charset=utf-8').send(published.formJson)
    },
  )
}
