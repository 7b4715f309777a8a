import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerBundle } from './answer-bundle.ts'

const answer = fc.record({
  status: fc.constantFrom(200, 304, 404),
  etag: fc.option(fc.string(), { nil: undefined }),
  body: fc.oneof(
    fc.constant(''),
    fc.json(),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  ),
})

it('answers come back as they were sent, each with its own body', () => {
  fc.assert(
    fc.property(fc.array(fc.option(answer, { nil: undefined }), { minLength: 1 }), (answers) => {
      const decoded = AnswerBundle.decode(Buffer.from(AnswerBundle.encode(answers)))

      expect(decoded.map((each) => each && { ...each, body: each.body.toString() })).toEqual(answers)
    }),
  )
})

it('refuses what is none', () => {
  expect(() => AnswerBundle.decode(Buffer.from('{"error":{}}'))).toThrow()
  expect(() => AnswerBundle.decode(Buffer.from(''))).toThrow()
})
