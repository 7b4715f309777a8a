import { describe, expect, it } from 'vitest'
import { isInvalid, violationsAt, violationsElsewhere } from './violations.ts'

const violations = [
  'form',
  'form.steps[1]',
  'form.steps[1].options',
  'form.steps[1].title',
  'form.steps[10].title',
  'form.theme.other',
].map((field) => ({ field, description: `about ${field}` }))

describe('violations', () => {
  it('of a field are those of exactly that path', () => {
    expect(violationsAt(violations, 'form')).toEqual(['about form'])
    expect(violationsAt(violations, 'form.steps')).toEqual([])
  })

  it('make each field around them invalid', () => {
    const fields = ['form.steps', 'form.steps[10]', 'form.steps[11]', 'form.theme', 'form.the']

    expect(fields.filter((field) => isInvalid(violations, field))).toEqual([
      'form.steps',
      'form.steps[10]',
      'form.theme',
    ])
  })

  it('elsewhere are those in a field, but in none of its shown members', () => {
    const elsewhere = (shown: string[]) =>
      violationsElsewhere(violations, 'form.steps[1]', shown).map(({ field }) => field)

    expect(elsewhere(['title', 'options'])).toEqual(['form.steps[1]'])
    expect(elsewhere(['title'])).toEqual(['form.steps[1]', 'form.steps[1].options'])
  })
})
