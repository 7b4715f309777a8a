import { Readable } from 'node:stream'
import type { JsonParts } from '@fms/forms-store'
import type { FastifyReply } from 'fastify'

/** Sends a resource that is JSON text already. */
export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)

/** Pages up to this length, in bytes or characters, are sent in one piece: that of the largest draft. */
const maxPieceLength = 768 * 1024

/**
 * Sends a page of a list. Streams a large page item by item, so that it is never in memory as one text and no step takes
 * longer than the largest item.
 *
 * @param end the other members of the page.
 * @param items the name of the list member, and its items as JSON. Each item is released once it is written.
 */
export const sendPage = (reply: FastifyReply, end: object, [name, items]: [string, JsonParts[]]) => {
  const begin = `${JSON.stringify(end).slice(0, -1)},"${name}":[`
  const length = items.flat().reduce((sum, part) => sum + part.length, 0)
  reply.header('content-type', 'application/json; charset=utf-8')
  const parts = partsOf(begin, items.toReversed())
  if (length > maxPieceLength) return reply.send(Readable.from(parts, { objectMode: false }))
  const all = [...parts]
  return reply.send(all.every(isText) ? all.join('') : Buffer.concat(all.map((part) => Buffer.from(part))))
}

const isText = (part: JsonParts[number]): part is string => typeof part === 'string'

/** @param left the items, last first. */
function* partsOf(begin: string, left: JsonParts[]): Generator<JsonParts[number]> {
  yield begin
  for (let separator = ''; left.length > 0; separator = ',') {
    yield separator
    yield* left.pop()!
  }
  yield ']}'
}
