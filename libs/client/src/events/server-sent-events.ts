/** A block of an event stream. */
export interface ServerSentEvent {
  /** The id of this block, or of the last block that has one; `""` for none. */
  id: string
  /** `""` for a block without data. */
  data: string
}

/**
 * Parses an event stream (HTML Living Standard, §9.2.6). Drops an incomplete block at the end, as browsers do. Ignores
 * comments, `event` and `retry`: the data of a form event has its type.
 *
 * @param chunks the text of the stream, split anywhere.
 */
export async function* parseEventStream(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let id = ''
  let data: string[] = []
  for await (const line of linesOf(chunks)) {
    if (line === '') {
      yield { id, data: data.join('\n') }
      data = []
      continue
    }
    // The field of a comment is "".
    const { field, value } = fieldIn(line)
    if (field === 'data') data.push(value)
    if (field === 'id' && !value.includes('\0')) id = value
  }
}

/** Lines end with CRLF, LF or CR. A CR at the end of a chunk may be half of a CRLF, so it waits for the next chunk. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
  }
}

const fieldIn = (line: string) => {
  const colon = line.indexOf(':')
  if (colon === -1) return { field: line, value: '' }
  return { field: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, '') }
}
