import { Readable } from 'node:stream'
import type { JsonParts } from '@fms/forms-store'
import type { FastifyReply } from 'fastify'

/** Answers with a resource whose JSON text is there already. */
export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)

/** A page up to this size is sent in one piece, in bytes or characters. */
const maxPieceLength = 256 * 1024

/**
 * Answers with a page of a list. A large one is sent part by part, as the connection takes them: it is never there as
 * one text, and no step takes longer than its largest item.
 *
 * @param end the page's other members.
 * @param items as JSON, by the name of the member of the page that has them. Each is let go of once it is written.
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
