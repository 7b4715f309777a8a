import { describe, expect, it } from 'vitest'
import { asQuestion, operatorChoices } from './question.ts'

const namesOf = (step: object, present = '') =>
  operatorChoices(asQuestion(step as never), present)
    .map(({ value }) => value)
    .filter((name) => !name.startsWith('!'))

describe('a condition about a question', () => {
  it.each([
    [{ type: 'choice', options: ['Tea'] }, 'equals isAnswered', [['Tea', 'Tea']]],
    [
      { type: 'multiple-choice', options: [{ key: 't', label: 'Tea' }, ' ', 'Milk'] },
      'isAnswered includes',
      [
        ['t', 'Tea'],
        ['Milk', 'Milk'],
      ],
    ],
    [
      { type: 'yes-no', labels: ['Sure', 'Never'] },
      'equals isAnswered',
      [
        ['yes', 'Sure'],
        ['no', 'Never'],
      ],
    ],
    [{ type: 'rating', max: 5 }, 'equals greaterThan lessThan isAnswered', []],
    [{ type: 'scale', min: 0, max: 3 }, 'equals greaterThan lessThan isAnswered', []],
    [{ type: 'text' }, 'equals contains startsWith isAnswered', []],
    [{ type: 'file' }, 'isAnswered', []],
    [{ type: 'hologram' }, 'equals contains startsWith greaterThan lessThan isAnswered includes', []],
  ])('%j compares by %s', (step, names, answers) => {
    expect(namesOf(step)).toEqual(names.split(' '))
    expect(asQuestion(step as never).answers.map(({ value, label }) => [value, label])).toEqual(answers)
  })

  it('keeps an operator that does not make sense', () => {
    expect(namesOf({ type: 'file' }, 'contains')).toEqual(['contains', 'isAnswered'])
  })
})
