import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)

/** Pages up to this length, in characters, are sent in one piece: that of the largest draft. */
const maxPieceLength = 768 * 1024

/** An item of a page that is cut to a mask when it is sent. */
export interface MaskedItem {
  /** Length of the item before the cut, in characters. */
  length: number
  cut(): string
}

/**
 * Sends a page, a large one item by item: to cut 4 MiB in one step would block the event loop for 20 ms.
 *
 * @param end the other members of the page.
 * @param items the name of the list, and its items as JSON, each released once written.
 */
export const sendPage = (
  reply: FastifyReply,
  end: object,
  [name, items]: [string, (string | MaskedItem)[]],
) => {
  const begin = `${JSON.stringify(end).slice(0, -1)},"${name}":[`
  const length = items.reduce((sum, item) => sum + item.length, 0)
  reply.header('content-type', 'application/json; charset=utf-8')
  if (length > maxPieceLength) {
    return reply.send(Readable.from(partsInTurns(begin, items.toReversed()), { objectMode: false }))
  }
  return reply.send(`${begin}${items.map(textOf).join(',')}]}`)
}

/** @param left the items, last first. */
async function* partsInTurns(begin: string, left: (string | MaskedItem)[]): AsyncGenerator<string> {
  yield begin
  for (let separator = ''; left.length > 0; separator = ',') {
    const item = left.pop()!
    if (typeof item !== 'string') await setImmediate()
    yield separator
    yield textOf(item)
  }
  yield ']}'
}

const textOf = (item: string | MaskedItem): string => (typeof item === 'string' ? item : item.cut())
