import type { FormChange, Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { textOfTitle } from '../elements/title.tsx'
import { namesInField } from '../json/field-path.ts'
import { wordsOfChange, wordsOfPath } from './change-words.ts'

const step = (key: string, title: string, type: 'text' | 'end' = 'text'): Step => ({ type, key, title })
const steps = {
  from: [step('name', 'Your name'), step('tea', 'Which tea?')],
  to: [step('tea', 'Which tea, please?'), step('bye', '', 'end')],
}

describe('a change in words', () => {
  it.each<[string, Partial<FormChange>]>([
    ['Title of Which tea, please? changed', { fromPointer: '/steps/1/title', toPointer: '/steps/0/title' }],
    ['Question Your name removed', { kind: 'REMOVED', fromPointer: '/steps/0' }],
    ['End screen bye added', { kind: 'ADDED', toPointer: '/steps/1' }],
    ['Question Which tea, please? moved', { kind: 'MOVED', fromPointer: '/steps/1', toPointer: '/steps/0' }],
    [
      'Option “Green” of Which tea? removed',
      { kind: 'REMOVED', fromPointer: '/steps/1/options/0', before: 'Green' },
    ],
    [
      'Option “Green” of Which tea, please? added',
      { kind: 'ADDED', toPointer: '/steps/0/options/0', after: { label: 'Green' } },
    ],
    ['Fewest characters of Which tea, please? added', { kind: 'ADDED', toPointer: '/steps/0/minLength' }],
    ['Steps changed', { fromPointer: '/steps', toPointer: '/steps' }],
    ['Steps moved', { kind: 'MOVED', field: 'steps' }],
    ['Tone changed', { fromPointer: '/tone', toPointer: '/tone' }],
    ['Theme › Buttons changed', { fromPointer: '/theme/primaryColor', toPointer: '/theme/primaryColor' }],
    ['Max follow up questions changed', { toPointer: '/maxFollowUpQuestions' }],
    ['Steps › 8 › Title changed', { toPointer: '/steps/7/title' }],
    ['Branch 1 › Step to go to of bye changed', { toPointer: '/steps/1/branches/0/targetStepKey' }],
    ['Languages changed', { toPointer: '/i18n/supportedLocales' }],
    ['Languages › 3 changed', { toPointer: '/i18n/supportedLocales/2' }],
    ['Language of the form changed', { toPointer: '/i18n/sourceLocale' }],
    ['Texts, in de added', { kind: 'ADDED', toPointer: '/i18n/translations/de' }],
    ['Name, in de changed', { toPointer: '/i18n/translations/de/name/value' }],
    [
      'Title of Which tea, please?, in de changed',
      { toPointer: '/i18n/translations/de/steps/tea/title/value' },
    ],
    [
      'Options of gone, in de removed',
      { kind: 'REMOVED', fromPointer: '/i18n/translations/de/steps/gone/options' },
    ],
  ])('%s', (words, change) => {
    expect(textOfTitle(wordsOfChange({ kind: 'CHANGED', field: '', ...change }, steps))).toBe(words)
  })

  it('has the name of the step apart', () => {
    const change: FormChange = { kind: 'REMOVED', field: '', fromPointer: '/steps/0' }

    expect(wordsOfChange(change, steps)).toMatchObject({ name: 'Your name' })
  })

  it('names a place by the key of its step, too', () => {
    const names = namesInField('steps[tea].title')

    expect(names).toEqual(['steps', 'tea', 'title'])
    expect(textOfTitle(wordsOfPath(names, steps.to[0]))).toBe('Title of Which tea, please?')
    const inherited = ['steps', 'tea', 'toString']
    expect(textOfTitle(wordsOfPath(inherited, steps.to[0]))).toBe('To string of Which tea, please?')
  })
})
