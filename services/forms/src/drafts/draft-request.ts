import type { JsonObject } from '@fms/aip'
import type { FastifyRequest } from 'fastify'
import type { Patch } from './draft-writer.ts'

/** The `form` member of a create or update request: JSON text if the body is large, otherwise parsed. */
export const draftPatch = ({
  body,
  nestedJson,
}: Pick<FastifyRequest, 'nestedJson'> & { body: { form: Record<string, unknown> } }): Patch =>
  nestedJson?.get('form') ?? (body.form as JsonObject)
