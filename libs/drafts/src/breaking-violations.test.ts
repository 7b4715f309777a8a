import { FormDraft } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { breakingViolations } from './breaking-violations.ts'

const withSteps = (...steps: object[]) => FormDraft.parse({ steps })
const choice = (...options: unknown[]) => withSteps({ type: 'choice', key: 'q', options })

describe('breakingViolations', () => {
  it('has the type, place and value of each breaking change', () => {
    const live = withSteps(
      { type: 'text', key: 'gone' },
      { type: 'choice', key: 'color', options: ['red', 'green'] },
      { type: 'text', key: 'size', title: 'Size' },
    )
    const draft = withSteps(
      { type: 'choice', key: 'color', options: ['green', 'blue'] },
      { type: 'number', key: 'size', title: 'How large?' },
    )

    expect(breakingViolations(live, draft)).toEqual([
      {
        type: 'STEP_REMOVED',
        subject: 'form.steps[0]',
        description: 'of the live revision must remain: the question "gone" may have answers',
      },
      {
        type: 'OPTION_REMOVED',
        subject: 'form.steps[1].options[0]',
        description: 'of the live revision must remain: answers may contain "red"',
      },
      {
        type: 'STEP_TYPE_CHANGED',
        subject: 'form.steps[1].type',
        description: 'must remain "text": the question may have answers',
      },
    ])
  })

  it('is empty for changes that orphan no answers', () => {
    const live = choice('red')

    expect(breakingViolations(live, choice('blue', 'red'))).toEqual([])
    expect(breakingViolations(withSteps(), live)).toEqual([])
  })

  it('has at most 1,000 violations, each with a short value', () => {
    const many = Array.from({ length: 1_200 }, (_, index) => ({ key: index, label: '😀'.repeat(100) }))

    const violations = breakingViolations(choice(...many), choice())

    expect(violations).toHaveLength(1_000)
    for (const { description } of violations) {
      expect(description).toMatch(
        /^of the live revision must remain: answers may contain \{"key":\d+,"label":"😀{38,42}�?…$/u,
      )
      expect(description.isWellFormed()).toBe(true)
    }
  })
})
