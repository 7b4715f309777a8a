import type { JsonObject } from '@fms/aip'
import { userPath } from '@fms/contracts'
import type { ChangeContext, ChangeMethod } from '@fms/forms-store'
import { flowOf } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import type { DraftWriter } from '../drafts/draft-writer.ts'
import { digestParameters } from './digest-request.ts'

/** The members of each body of a change that are no parameters of the change. */
interface ChangeBody {
  requestId?: string | undefined
  validateOnly?: boolean | undefined
}

/**
 * The context of a change: who makes it, for its event, and the identity of a request with `requestId`. The digest of a
 * large form, of which only the text is there, is computed in a worker thread.
 *
 * @param body {@link ChangeBody} and the parameters. @param more further parameters.
 */
export const changeContext = async (
  drafts: DraftWriter,
  method: ChangeMethod,
  request: FastifyRequest,
  { requestId, validateOnly, ...body }: ChangeBody,
  more: JsonObject = {},
): Promise<ChangeContext> => {
  const { identity, nestedJson, id: httpRequestId } = request
  const context = {
    actor: { user: userPath(identity.userId), key: identity.key },
    httpRequestId,
    validateOnly,
  }
  if (requestId === undefined) return context
  const parameters = { ...body, ...more }
  const formJson = nestedJson?.get('form')
  const digest =
    formJson === undefined
      ? digestParameters(parameters)
      : await drafts.run('digest', { parameters, formJson }, flowOf(identity))
  return { ...context, request: { requestId, method, digest } }
}
