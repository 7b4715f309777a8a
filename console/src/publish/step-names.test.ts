import type { Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { stepNameOf } from './step-names.ts'

const step = (key: string, title: string): Step => ({ type: 'text', key, title }) as Step
const steps = {
  from: [step('name', 'Your name'), step('tea', 'Which tea?')],
  to: [step('tea', 'Which tea, please?'), step('end', '')],
}

describe('the name of the step of a change', () => {
  it.each([
    ['of a value', { fromPointer: '/steps/1/title', toPointer: '/steps/0/title' }, 'Which tea, please?'],
    ['of a removed value', { fromPointer: '/steps/1/options/0' }, 'Which tea?'],
    ['of a removed step', { fromPointer: '/steps/0' }, 'Your name'],
    ['of a step without a title', { toPointer: '/steps/1' }, 'end'],
    ['of all steps at once', { fromPointer: '/steps', toPointer: '/steps' }, undefined],
    ['of another field', { fromPointer: '/theme/steps/0', toPointer: '/theme/steps/0' }, undefined],
    ['of a step that is not there any more', { toPointer: '/steps/7/title' }, undefined],
  ])('%s', (_, change, name) => {
    expect(stepNameOf(change, steps)).toBe(name)
  })
})
