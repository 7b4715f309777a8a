import type { Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { wordsOfValue } from './value-words.ts'

const steps: Step[] = [
  { type: 'choice', key: 'tea', title: 'Which tea?', options: [{ key: 'g', label: 'Green' }] },
  { type: 'end', key: 'bye', title: 'Bye' },
]
const condition = (operator: string, value: string, negate = false) => ({
  stepKey: 'tea',
  operator,
  value,
  negate,
})
const translated = (value: string) => ({ override: false, sourceHash: '', stale: false, value })

describe('a value in words', () => {
  it.each<[string, unknown]>([
    ['Tea', 'Tea'],
    ['(empty)', ''],
    ['Yes', true],
    ['5', 5],
    ['Green', { key: 'g', label: 'Green' }],
    ['Tea · Green', ['Tea', { key: 'g', label: 'Green' }]],
    ['Tee', translated('Tee')],
    ['(empty) · Kaffee', [translated(''), translated('Kaffee')]],
    ['Tee · Kaffee', [translated('Tee'), translated('Kaffee')]],
    ['(empty)', []],
    ['{"enabled":true}', { enabled: true }],
    ['go to Bye', { targetStepKey: 'bye', groups: [[]] }],
    [
      'If Which tea? is Green and Which tea? does not contain x or if Which tea? is answered, go to nowhere',
      {
        targetStepKey: 'nowhere',
        groups: [[condition('equals', 'g'), condition('contains', 'x', true)], [condition('isAnswered', '')]],
      },
    ],
  ])('%s', (words, value) => {
    expect(wordsOfValue(value, steps)).toBe(words)
  })
})
