import { randomUUIDv7 } from 'node:crypto'
import { ApiError, parseIfMatch } from '@fms/aip'
import { NoQuery, operations, PublishFormRequest, routePatternOf } from '@fms/contracts'
import { type AddRoute, flowOf } from '@fms/service-kit'
import { z } from 'zod'
import { maxWaitMs } from '../admission/admission-queue.ts'
import { reauthorize } from '../caller/authenticate.ts'
import type { GatewayDeps } from '../deps.ts'

const Params = z.object({ organizationRef: z.string(), formRef: z.string() })

/** Publishes the draft (AIP-162) by one durable command, with a `requestId` that a timeout error names. */
export const publishForm: AddRoute<GatewayDeps> = (
  app,
  { config: { PUBLISH_TIMEOUT_MS: publishTimeoutMs }, queues, authorize, publisher },
) => {
  app.post(
    routePatternOf(operations.publishForm),
    { schema: { params: Params, querystring: NoQuery, body: PublishFormRequest } },
    async (request, reply) => {
      const { id, params, body, headers, identity, permit } = request
      const deadline = performance.now() + publishTimeoutMs
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
      const admission = {
        flow: flowOf(identity),
        isExpensive: () => body.refuseBreaking === true,
        reply,
        reauthorize: () => reauthorize(request, authorize),
        // What is left has to suffice for the publish.
        maxWaitMs: Math.min(maxWaitMs, publishTimeoutMs / 2),
      }
      const published = await permit.holdDuring(() =>
        queues.publish.admit(admission, () => publisher.publishForm(command, deadline, id)),
      )
      if (!published || reply.hasEnded) return reply.hijack()
      if (published.outcome === 'refused') throw ApiError.fromProblem(published.problem)
      // A dry run's form is not stored, so it has no ETag.
      if (!body.validateOnly) reply.header('etag', published.etag)
      return reply.type('application/json; charset=utf-8').send(published.formJson)
    },
  )
}
