import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Answers with a resource whose JSON text is there already. */
export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)

/** A page up to this size is sent in one piece, in characters. */
const maxPieceLength = 256 * 1024

/**
 * Answers with a page of a list. A large one is sent item by item, as the connection takes them: it is never there as
 * one text, and no step takes longer than its largest item.
 *
 * @param end the page's other members.
 * @param items written when their turn comes.
 */
export const sendPage = <T>(
  reply: FastifyReply,
  end: object,
  { name, items, lengthOf, render }: PageItems<T>,
) => {
  const begin = `${JSON.stringify(end).slice(0, -1)},"${name}":[`
  const length = items.reduce((sum, item) => sum + lengthOf(item), 0)
  if (length <= maxPieceLength) return sendJson(reply, `${begin}${items.map(render).join(',')}]}`)
  const pieces = Readable.from(piecesOf(begin, items.toReversed(), render), { objectMode: false })
  return reply.header('content-type', 'application/json; charset=utf-8').send(pieces)
}

export interface PageItems<T> {
  /** The member of the page that has them. */
  name: string
  items: readonly T[]
  /** About how long an item is as JSON. */
  lengthOf: (item: T) => number
  render: (item: T) => string
}

/** @param left the items, last first: each is let go of once it is written. */
function* piecesOf<T>(begin: string, left: T[], render: (item: T) => string): Generator<string> {
  yield begin
  for (let separator = ''; left.length > 0; separator = ',') yield separator + render(left.pop()!)
  yield ']}'
}
