import type { JsonObject } from '@fms/aip'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DraftCaller, Patch } from '../drafts/draft-writer.ts'

/** The `form` of a create or a patch: as text where the body is large. */
export const patchOf = ({
  body,
  nestedJson,
}: Pick<FastifyRequest, 'nestedJson'> & { body: { form: Record<string, unknown> } }): Patch =>
  nestedJson?.get('form') ?? (body.form as JsonObject)

export const callerOf = ({ identity }: FastifyRequest, reply: FastifyReply): DraftCaller => ({
  userId: identity.userId,
  hasGone: () => reply.hasEnded,
})
