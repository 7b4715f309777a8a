import { replayedHeader } from '@fms/contracts'
import { formETag, formNotFound, formToJson, RequestReplay, requestIdReused } from '@fms/forms-store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FormsDeps } from '../deps.ts'
import { sendJson } from '../routes/send-json.ts'

/** Responds to repeats (AIP-155): 200 with the form as it is now, without ETag for a dry run; `{}` for a DELETE. */
export const respondToReplays = (
  app: FastifyInstance,
  { forms, publicFormBaseUrl }: Pick<FormsDeps, 'forms' | 'publicFormBaseUrl'>,
): void => {
  const respond = async (replay: RequestReplay, request: FastifyRequest, reply: FastifyReply) => {
    const { organizationId, formId, publicId } = replay.form
    const ref = { organizationId, formRef: formId }
    const form = await forms.get(ref)
    // The id of a purged form is free for another one, which is another target.
    if (form && form.publicId !== publicId) throw requestIdReused(organizationId, replay.request)
    const isDelete = request.method === 'DELETE'
    if (!form && !isDelete) throw formNotFound(ref)
    reply.code(200).header(replayedHeader, 'true')
    if (!form || isDelete) return sendJson(reply, '{}')
    if (!isDryRun(request)) reply.header('etag', formETag(form))
    return sendJson(reply, formToJson(form, publicFormBaseUrl))
  }

  app.setErrorHandler((thrown, request, reply) => {
    if (!(thrown instanceof RequestReplay)) throw thrown
    return respond(thrown, request, reply)
  })
}

const isDryRun = ({ body }: FastifyRequest): boolean =>
  (body as { validateOnly?: boolean } | undefined)?.validateOnly === true
