import type { FastifyRequest } from 'fastify'

/** Asked every few seconds, and by nobody whose doings matter. */
const probes = new Set(['/healthz', '/readyz', '/metrics'])

export const isProbe = ({ url }: Pick<FastifyRequest, 'url'>): boolean => probes.has(url)
