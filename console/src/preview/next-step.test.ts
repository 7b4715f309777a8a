import type { Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { type Answers, nextStep } from './next-step.ts'

const condition = (stepKey: string, operator: string, value: string, negate = false) => ({
  stepKey,
  operator,
  value,
  negate,
})
const branchTo = (targetStepKey: string, ...groups: ReturnType<typeof condition>[][]) => ({
  targetStepKey,
  groups,
})

const again: Step = {
  type: 'yes-no',
  key: 'again',
  branches: [
    branchTo('sorry', [condition('again', 'equals', 'No'), condition('stars', 'lessThan', '3')]),
    branchTo('nobody', [condition('stars', 'greaterThan', '9')]),
    branchTo('thanks', [condition('stars', 'sounds like', '5')], [condition('stars', 'equals', '5', true)]),
  ],
}
const steps: Step[] = [
  again,
  { type: 'text', key: 'more' },
  { type: 'end', key: 'thanks' },
  { type: 'end', key: 'sorry' },
]
const next = (from: Step, answers: Record<string, string>) =>
  nextStep({ steps }, from, new Map(Object.entries(answers)) as Answers)

describe('the step after an answer', () => {
  it('is that of the first branch with a group whose conditions all hold', () => {
    expect(next(again, { again: 'no', stars: '2' }).step?.key).toBe('sorry')
    expect(next(again, { again: 'no', stars: '4' }).step?.key).toBe('thanks')
  })

  it('is the following one if no branch holds, and none after the end', () => {
    expect(next(again, { again: 'yes', stars: '5' }).step?.key).toBe('more')
    expect(next(steps[3]!, {}).step).toBeUndefined()
    expect(next(steps[2]!, {}).step).toBeUndefined()
  })

  it('is none if a branch leads to a step that does not exist', () => {
    expect(next(again, { stars: '10' })).toMatchObject({ step: undefined, missingKey: 'nobody' })
  })

  it('comes with the operators that the preview does not know', () => {
    expect(next(again, { stars: '5' }).unknownOperators).toEqual(['sounds like'])
  })
})
