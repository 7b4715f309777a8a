import type { JsonObject } from '@fms/aip'
import { userPath } from '@fms/contracts'
import type { ChangeContext, ChangeMethod } from '@fms/forms-store'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { draftCaller } from '../drafts/draft-request.ts'
import type { DraftThreads } from '../drafts/draft-threads.ts'
import { digestParameters, type Parameters } from './digest-request.ts'

/** The members of each body of a change that are no parameters of the change. */
export interface ChangeBody {
  requestId?: string | undefined
  validateOnly?: boolean | undefined
}

/** Creates the contexts of changes: who makes the change, for its event, and the identity of a request with `requestId`. */
export class ChangeContexts {
  readonly #threads: DraftThreads

  constructor(threads: DraftThreads) {
    this.#threads = threads
  }

  /**
   * The context of a change that a caller requests.
   *
   * @param body its members are the parameters of the request, except for those of {@link ChangeBody}.
   * @param more further parameters that distinguish the request from others.
   * @throws {ApiError} OVERLOADED when the digest of a large form would have to wait for too many others.
   */
  async create(
    method: ChangeMethod,
    request: FastifyRequest,
    reply: FastifyReply,
    body: ChangeBody,
    more: JsonObject = {},
  ): Promise<ChangeContext> {
    const { userId, key } = request.identity
    const { requestId, validateOnly: _, ...parameters } = body
    return {
      actor: { user: userPath(userId), ...(key && { key }) },
      httpRequestId: request.id,
      ...(requestId !== undefined && {
        request: {
          requestId,
          method,
          digest: await this.#digest({ ...parameters, ...more }, request, reply),
        },
      }),
    }
  }

  /** Digests a large form, of which only the text is there, in a worker thread. */
  async #digest(parameters: Parameters, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const formJson = request.nestedJson?.get('form')
    if (formJson === undefined) return digestParameters(parameters)
    return this.#threads.run('digest', { parameters, formJson }, draftCaller(request, reply))
  }
}
