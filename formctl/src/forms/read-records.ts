import { createReadStream } from 'node:fs'
import { ApiError, parseJson, toFieldViolations } from '@fms/aip'
import { FormRecord } from '@fms/contracts'

const newline = 0x0a

export interface Line {
  /** Counts from 1. */
  number: number
  bytes: Uint8Array
}

/** Reads the lines of a file that are not blank, one at a time. */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let number = 1
  let partial: Buffer[] = []
  const line = () => {
    const bytes = Buffer.concat(partial)
    partial = []
    return { number: number++, bytes }
  }
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      partial.push(chunk.subarray(start, end))
      start = end + 1
      const whole = line()
      if (!isBlank(whole)) yield whole
    }
    partial.push(chunk.subarray(start))
  }
  const last = line()
  if (!isBlank(last)) yield last
}

const isBlank = ({ bytes }: Line) => bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)

/** Of JSON in a line: a revision's snapshot is two levels deeper in a record than a draft in a request. */
const maxDepth = 66

/** Parses the form record of a line. @throws {InvalidLineError} with all problems of the line. */
export const parseRecord = ({ number, bytes }: Line): FormRecord => {
  const { data, error } = FormRecord.safeParse(parse(number, bytes))
  if (!error) return data
  throw new InvalidLineError(
    number,
    toFieldViolations(error).map(({ field, description }) => `${field} ${description}`.trim()),
  )
}

const parse = (number: number, bytes: Uint8Array): unknown => {
  try {
    return parseJson(bytes, maxDepth)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { metadata: { column, expected } = {}, fieldViolations } = error.parts
    if (fieldViolations) {
      throw new InvalidLineError(
        number,
        fieldViolations.map(({ field, description }) => `${field} ${description}`),
      )
    }
    const problem = expected
      ? `is not JSON: column ${column}: expected ${expected}.`
      : error.message.replace(/^The body /, '').replace(/ Send the body .*$/, '')
    throw new InvalidLineError(number, [problem])
  }
}

/** A line is not a valid record. The message has a line for each problem. */
export class InvalidLineError extends Error {
  constructor(number: number, problems: string[]) {
    super(problems.map((problem) => `line ${number}: ${problem}`).join('\n'))
  }
}
