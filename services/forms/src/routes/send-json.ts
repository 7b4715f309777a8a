import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

/** Sends a resource that is JSON text already. */
export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)

/** Pages up to this length, in characters, are sent in one piece: that of the largest draft. */
const maxPieceLength = 768 * 1024

/**
 * Sends a page of a list. Streams a large page item by item, so that it is never in memory as one text and no step takes
 * longer than the largest item.
 *
 * @param end the other members of the page.
 * @param items the name of the list member, and its items as JSON. Each item is released once it is written.
 */
export const sendPage = (reply: FastifyReply, end: object, [name, items]: [string, string[]]) => {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  reply.header('content-type', 'application/json; charset=utf-8')
  const parts = partsOf(beginOf(end, name), items.toReversed())
  if (length > maxPieceLength) return reply.send(Readable.from(parts, { objectMode: false }))
  return reply.send([...parts].join(''))
}

/** An item of a page that is cut to a mask when it is sent. */
export interface MaskedItem {
  /** Length of the item before the cut, in characters. */
  length: number
  cut(): string
}

/**
 * Sends a page of a list whose items are cut to a mask. Cuts the items of a large page one by one, each in a turn of the
 * event loop of its own: a page of 4 MiB would block it for 20 ms.
 */
export const sendMaskedPage = (reply: FastifyReply, end: object, [name, items]: [string, MaskedItem[]]) => {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  if (length <= maxPieceLength) return sendPage(reply, end, [name, items.map((item) => item.cut())])
  reply.header('content-type', 'application/json; charset=utf-8')
  const parts = cutInTurns(beginOf(end, name), items.toReversed())
  return reply.send(Readable.from(parts, { objectMode: false }))
}

/** @param left the items, last first. */
async function* cutInTurns(begin: string, left: MaskedItem[]): AsyncGenerator<string> {
  yield begin
  for (let separator = ''; left.length > 0; separator = ',') {
    await setImmediate()
    yield separator
    yield left.pop()!.cut()
  }
  yield ']}'
}

/** The text of a page before its first item. @param end the other members of the page. */
const beginOf = (end: object, name: string): string => `${JSON.stringify(end).slice(0, -1)},"${name}":[`

/** @param left the items, last first. */
function* partsOf(begin: string, left: string[]): Generator<string> {
  yield begin
  for (let separator = ''; left.length > 0; separator = ',') {
    yield separator
    yield left.pop()!
  }
  yield ']}'
}
