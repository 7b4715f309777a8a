import type { JsonObject } from '@fms/aip'
import { userPath } from '@fms/contracts'
import type { ChangeContext, ChangeMethod, FormsStore, IdentifiedRequest } from '@fms/forms-store'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DraftThreads } from '../drafts/draft-threads.ts'
import { draftCaller } from '../routes/draft-request.ts'
import { digestParameters, type Parameters } from './digest-request.ts'

/** A validated body of a change. Its other members are parameters. */
export interface ChangeBody {
  requestId?: string | undefined
  validateOnly?: boolean | undefined
}

/** Creates the contexts of changes: who makes the change, for its event, and the identity of a request with `requestId`. */
export class ChangeContexts {
  readonly #forms: FormsStore
  readonly #threads: DraftThreads

  constructor(forms: FormsStore, threads: DraftThreads) {
    this.#forms = forms
    this.#threads = threads
  }

  /**
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

  /**
   * Looks up whether a request with `requestId` was carried out before. Changes of the store do so themselves: this is for
   * dry runs, and for routes that check something before they call the store.
   *
   * @param ref without `formRef` for a create.
   * @throws {RequestReplay} when it was; {ApiError} REQUEST_ID_REUSED when another request was.
   */
  async assertNew(
    { organizationId, formRef }: { organizationId: string; formRef?: string },
    request: IdentifiedRequest | undefined,
  ): Promise<void> {
    if (request) await this.#forms.checkRequest(organizationId, formRef, request)
  }

  /** Digests a large form, of which only the text is there, in a worker thread. */
  async #digest(parameters: Parameters, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const formJson = request.nestedJson?.get('form')
    if (formJson === undefined) return digestParameters(parameters)
    return this.#threads.run('digest', { parameters, formJson }, draftCaller(request, reply))
  }
}
