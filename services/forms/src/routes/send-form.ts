import { formETag, formToJson, type StoredForm } from '@fms/forms-store'
import type { FastifyReply } from 'fastify'
import { sendJson } from './send-json.ts'

/** Sends a form with its ETag, without one for a dry run: no form has it. */
export const sendForm = (
  reply: FastifyReply,
  form: StoredForm,
  publicFormBaseUrl: string,
  { validateOnly }: { validateOnly?: boolean | undefined },
) => {
  if (!validateOnly) reply.header('etag', formETag(form))
  return sendJson(reply, formToJson(form, publicFormBaseUrl))
}
