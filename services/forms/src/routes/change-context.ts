import type { ChangeContext } from '@fms/forms-store'
import type { FastifyRequest } from 'fastify'

/** Who makes the change of a request, for its event. */
export const changeContext = ({ id, identity }: Pick<FastifyRequest, 'id' | 'identity'>): ChangeContext => {
  const { userId, key } = identity
  return { actor: { user: `users/${userId}`, ...(key && { key }) }, httpRequestId: id }
}
