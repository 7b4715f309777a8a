import { describe, expect, it } from 'vitest'
import { remarksAt, remarksElsewhere, worstOfSteps, worstWithin } from './remarks.ts'

const about = (...fields: string[]) => fields.map((field) => ({ field, description: `about ${field}` }))
const remarks = {
  violations: about(
    'form',
    'form.steps[1]',
    'form.steps[1].options',
    'form.steps[1].title',
    'form.steps[10].title',
    'form.theme.other',
  ),
  warnings: about('form.steps', 'form.steps[1].title', 'form.steps[2].options[0]'),
}

describe('remarks', () => {
  it('at a field are those about exactly that path', () => {
    expect(remarksAt(remarks, 'form')).toEqual({ violations: ['about form'], warnings: [] })
    expect(remarksAt(remarks, 'form.steps')).toEqual({ violations: [], warnings: ['about form.steps'] })
  })

  it('elsewhere are those in a field, but about none of its shown members', () => {
    const elsewhere = (shown: string[]) => {
      const { violations, warnings } = remarksElsewhere(remarks, 'form.steps[1]', shown)
      return [violations, warnings].map((found) => found.map(({ field }) => field))
    }

    expect(elsewhere(['title', 'options'])).toEqual([['form.steps[1]'], []])
    expect(elsewhere(['options'])).toEqual([
      ['form.steps[1]', 'form.steps[1].title'],
      ['form.steps[1].title'],
    ])
  })
})

describe('the worst remark', () => {
  it.each([
    ['form.steps', 'violations'],
    ['form.steps[10]', 'violations'],
    ['form.steps[11]', undefined],
    ['form.steps[2]', 'warnings'],
    ['form.steps[2].options', 'warnings'],
    ['form.theme', 'violations'],
    ['form.the', undefined],
  ])('within %s is one of the %s', (field, kind) => {
    expect(worstWithin(remarks, field)).toBe(kind)
  })

  it('about each step is a violation, if there is one', () => {
    expect([...worstOfSteps(remarks)].sort(([a], [b]) => a - b)).toEqual([
      [1, 'violations'],
      [2, 'warnings'],
      [10, 'violations'],
    ])
  })
})
