import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEventStream, type ServerSentEvent } from './event-stream.ts'

async function* toChunks(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks
}

const parsed = (...chunks: string[]): Promise<ServerSentEvent[]> =>
  Array.fromAsync(parseEventStream(toChunks(...chunks)))

describe('parseEventStream', () => {
  it('yields a block for each empty line, with its id and data', async () => {
    expect(await parsed('id: 1\nevent: form.created\ndata: {"a": 1}\n\nid: 2\ndata: {}\n\n')).toEqual([
      { id: '1', data: '{"a": 1}' },
      { id: '2', data: '{}' },
    ])
  })

  // The examples of the HTML Living Standard, §9.2.6.
  it('joins lines of data, and removes one space after the colon', async () => {
    expect(await parsed('data: YHOO\ndata: +2\ndata: 10\n\n')).toMatchObject([{ data: 'YHOO\n+2\n10' }])
    expect(await parsed('data:test\n\ndata:  test\n\n')).toMatchObject([{ data: 'test' }, { data: ' test' }])
    expect(await parsed('data\n\ndata\ndata\n\ndata:')).toMatchObject([{ data: '' }, { data: '\n' }])
  })

  it('keeps the id for later blocks until another one, also without data', async () => {
    expect(await parsed('id: 1\ndata: a\n\ndata: b\n\n:\nid: 3\n\nid\ndata: c\n\n')).toEqual([
      { id: '1', data: 'a' },
      { id: '1', data: 'b' },
      { id: '3', data: '' },
      { id: '', data: 'c' },
    ])
  })

  it('ignores comments and unknown fields', async () => {
    expect(await parsed(': data: x\ndata: a\n:id: 7\nretry: 1\nevent: e\nother: o\n\n')).toEqual([
      { id: '', data: 'a' },
    ])
  })

  it('drops an incomplete block at the end', async () => {
    expect(await parsed('data: a\n\nid: 2\ndata: b\n')).toEqual([{ id: '', data: 'a' }])
  })

  it('does not depend on how the stream is split, or on the kind of line ends', async () => {
    const text = ': hello\n\nid: 1\ndata: {"name": "ä€😀"}\n\nid: 2\ndata: a\ndata: b\n\n'
    const expected = await parsed(text)
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
    const cuts = fc.array(fc.nat(text.length + 12))
    const property = fc.asyncProperty(lineEnd, cuts, async (end, positions) => {
      const whole = `${text.replaceAll('\n', end)}:end`
      const bounds = [0, ...positions.sort((a, b) => a - b), whole.length]
      const chunks = bounds.slice(1).map((bound, index) => whole.slice(bounds[index], bound))

      expect(await parsed(...chunks)).toEqual(expected)
    })
    await fc.assert(property)
  })
})
