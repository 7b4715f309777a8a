import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ifNoneMatchHolds } from '@fms/aip'
import { NoQuery } from '@fms/contracts'
import type { App } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../responses/headers.ts'

/** A document that is the same for every caller until the next release, compressed once. */
export interface StaticDocument {
  contentType: string
  cacheControl: string
  identity: Buffer
  gzip: Buffer
  /** SHA-256 of the content. Each content coding has its own ETag (RFC 9110 §8.8.3.3). */
  digest: string
}

export const createStaticDocument = async (
  contentType: string,
  cacheControl: string,
  content: string | Buffer,
): Promise<StaticDocument> => {
  const identity = Buffer.from(content)
  const digest = hash('sha256', identity, 'base64url')
  return { contentType, cacheControl, identity, gzip: await promisify(gzip)(identity), digest }
}

/** Makes something at the first call, and at the next one after a failure. */
export const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Adds a route of a document, which is made at its first request. */
export const serveDocument = (
  app: App,
  path: string,
  make: () => Promise<StaticDocument>,
  headers = {},
): void => {
  const document = once(make)
  app.get(path, { schema: { querystring: NoQuery } }, async (request, reply) =>
    sendDocument(request, reply.headers(headers), await document()),
  )
}

/** Sends the document, compressed if the client accepts gzip, or a 304 if `If-None-Match` has its ETag. */
export const sendDocument = (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { contentType, cacheControl, identity, gzip, digest }: StaticDocument,
): FastifyReply => {
  const isCompressed = acceptsGzip(headers['accept-encoding'])
  const etag = `"${digest}${isCompressed ? '-gzip' : ''}"`
  reply.headers({ 'cache-control': cacheControl, etag })
  addVary(reply, 'accept-encoding')
  if (ifNoneMatchHolds(headers['if-none-match'], etag)) return reply.code(304).send()
  if (isCompressed) reply.header('content-encoding', 'gzip')
  return reply.header('content-type', contentType).send(isCompressed ? gzip : identity)
}

/** RFC 9110 §12.5.3: `gzip`, or `*` where that is not listed, unless its weight is 0. */
const acceptsGzip = (acceptEncoding: string | string[] | undefined): boolean => {
  const codings = String(acceptEncoding ?? '').split(',')
  const gzip = codings.filter((each) => /^\s*gzip\s*(;|$)/i.test(each))
  return (gzip.length > 0 ? gzip : codings).some((each) =>
    /^\s*(gzip|\*)\s*(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*)\s*)?$/i.test(each),
  )
}
