import type { JsonObject } from '@fms/aip'
import { userPath } from '@fms/contracts'
import type { ChangeContext, ChangeMethod } from '@fms/forms-store'
import { flowOf } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import type { DraftThreads } from '../drafts/draft-threads.ts'
import { digestParameters } from './digest-request.ts'

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

  /** The context of a change. @param body {@link ChangeBody} and the parameters. @param more further parameters. */
  async create(
    method: ChangeMethod,
    request: FastifyRequest,
    body: ChangeBody,
    more: JsonObject = {},
  ): Promise<ChangeContext> {
    const { userId, key } = request.identity
    const { requestId, validateOnly, ...parameters } = body
    return {
      actor: { user: userPath(userId), key },
      httpRequestId: request.id,
      validateOnly,
      ...(requestId !== undefined && {
        request: {
          requestId,
          method,
          digest: await this.#digest({ ...parameters, ...more }, request),
        },
      }),
    }
  }

  /** Digests a large form, of which only the text is there, in a worker thread. */
  async #digest(parameters: JsonObject, request: FastifyRequest): Promise<string> {
    const formJson = request.nestedJson?.get('form')
    if (formJson === undefined) return digestParameters(parameters)
    return this.#threads.run('digest', { parameters, formJson }, flowOf(request.identity))
  }
}
