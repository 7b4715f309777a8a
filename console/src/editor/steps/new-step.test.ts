import { describe, expect, it } from 'vitest'
import { copyOfStep, newStep, withReferences, withTitle } from './new-step.ts'

describe('the key of a step', () => {
  it('is that of its type at first, and of no other step', () => {
    expect(newStep('text', [])).toEqual({ type: 'text', key: 'text', title: '' })
    expect(newStep('choice', [{ key: 'choice' }, { key: 'choice-2' }]).key).toBe('choice-3')
  })

  it.each([
    ['What is your name?', 'what-is-your-name'],
    ['Où habitez-vous ?', 'ou-habitez-vous'],
    ['你好', 'text'],
    ['Fee', 'fee-2'],
    [
      'A title that is much longer than anybody would like a key to be',
      'a-title-that-is-much-longer-than-anybody',
    ],
  ])('follows the title %s: %s', (title, key) => {
    expect(withTitle(newStep('text', []), title, [{ key: 'fee' }], []).key).toBe(key)
  })

  it('follows each keystroke, until somebody chooses it, saves the step or refers to it', () => {
    const typed = ['W', 'Wh', 'Why'].reduce(
      (step, title) => withTitle(step, title, [], []),
      newStep('text', []),
    )
    expect(typed).toMatchObject({ key: 'why', title: 'Why' })
    expect(withTitle(typed, 'How', [], [{ key: 'why' }]).key).toBe('why')
    expect(withTitle({ ...typed, key: 'reason' }, 'How', [], []).key).toBe('reason')
    const branches = [{ targetStepKey: 'end', groups: [[{ stepKey: 'why' }]] }]
    expect(withTitle(typed, 'How', [{ key: 'other', branches }], []).key).toBe('why')
  })

  it('is none that the service has or had, whose answers are of another question, nor one that it refuses', () => {
    const saved = [{ key: 'text' }, { key: 'name' }]

    expect(newStep('text', saved).key).toBe('text-2')
    const typed = ['N', 'Name', 'Name of'].map(
      (title) => withTitle(newStep('text', saved), title, [], saved).key,
    )
    expect(typed).toEqual(['n', 'name-2', 'name-of'])
    expect(withTitle(newStep('choice', []), 'Constructor', [], []).key).toBe('choice')
  })

  it('is renamed in the branches that refer to it', () => {
    const branch = (targetStepKey: string, stepKey: string) => ({ targetStepKey, groups: [[{ stepKey }]] })
    const step = { key: 'a', branches: [branch('why', 'other'), branch('end', 'why')] }

    expect(withReferences(step, 'why', 'reason')).toEqual({
      key: 'a',
      branches: [branch('reason', 'other'), branch('end', 'reason')],
    })
    expect(withReferences(step, 'nobody', 'reason')).toBe(step)
  })

  it('is another one in a copy, whose branches refer to it', () => {
    const branches = [{ targetStepKey: 'end', groups: [[{ stepKey: 'why' }, { stepKey: 'other' }]] }]
    const step = { type: 'text', key: 'why', branches }

    expect(copyOfStep(step, [step])).toEqual({
      type: 'text',
      key: 'why-2',
      branches: [{ targetStepKey: 'end', groups: [[{ stepKey: 'why-2' }, { stepKey: 'other' }]] }],
    })
  })
})
