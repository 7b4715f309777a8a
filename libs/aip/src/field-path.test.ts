import { expect, it } from 'vitest'
import { fieldPath } from './field-violations.ts'

it.each([
  [['form', 'steps', 2, 'key'], 'form.steps[2].key'],
  [['form', 'steps', 0, 1], 'form.steps[0][1]'],
  [[0, 'a'], '[0].a'],
  [['2'], '2'],
  [[], ''],
  [['a\ud800'], 'a\ufffd'],
  [['a'.repeat(499), '😀'], `${'a'.repeat(499)}.…`],
  [['a'.repeat(499 - 1), '😀'], `${'a'.repeat(498)}.\ufffd…`],
])('names %j', (path, text) => {
  expect(fieldPath(path)).toBe(text)
})
