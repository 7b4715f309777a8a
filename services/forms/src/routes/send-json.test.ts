import { text } from 'node:stream/consumers'
import type { FastifyReply } from 'fastify'
import { describe, expect, it } from 'vitest'
import { countTurns } from '../testing/count-turns.ts'
import { sendPage } from './send-json.ts'

/** A reply that keeps what is sent. */
const fakeReply = () => {
  const sent: unknown[] = []
  const reply = { header: () => reply, send: (body: unknown) => sent.push(body) && reply }
  return { reply: reply as unknown as FastifyReply, sent }
}

describe('sendPage', () => {
  const page = (length: number, turnsOf: () => number) => {
    const cutAt: number[] = []
    const cut = (number: number) => () => {
      cutAt.push(turnsOf())
      return `{"number":${number}}`
    }
    return { cutAt, items: [1, 2, 3].map((number) => ({ length, cut: cut(number) })) }
  }
  const json = '{"totalSize":3,"forms":[{"number":1},{"number":2},{"number":3}]}'

  it('cuts the items of a large page in separate iterations of the event loop', async () => {
    using turns = countTurns()
    const { cutAt, items } = page(700_000, turns.now)
    const { reply, sent } = fakeReply()

    sendPage(reply, { totalSize: 3 }, ['forms', items])

    expect(await text(sent[0] as NodeJS.ReadableStream)).toBe(json)
    expect(new Set(cutAt).size).toBe(3)
  })

  it('sends a small page in one piece', () => {
    const { items } = page(100, () => 0)
    const { reply, sent } = fakeReply()

    sendPage(reply, { totalSize: 3 }, ['forms', items])

    expect(sent).toEqual([json])
  })
})
