import type { JsonValue } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { membersWithField, withoutBlankOptions } from './step-members.ts'

describe('blank options', () => {
  it('never leave the page', () => {
    const steps: JsonValue[] = [
      { key: 'a' },
      { key: 'b', options: ['Tea', ' ', '', 'Coffee', { label: '' }] },
    ]

    expect(withoutBlankOptions({ name: 'F', steps })).toEqual({
      name: 'F',
      steps: [{ key: 'a' }, { key: 'b', options: ['Tea', 'Coffee', { label: '' }] }],
    })
    const options = ['Tea', '', { key: 'm', label: ' ' }, { key: 'c', label: 'Coffee' }]
    const translated = (values: string[]) => ({
      translations: { de: { steps: { b: { options: values.map((value) => ({ value })) } } } },
    })
    expect(
      withoutBlankOptions({
        steps: [{ key: 'b', options }],
        i18n: translated(['Tee', '', 'Milch', 'Kaffee']),
      }),
    ).toEqual({
      steps: [{ key: 'b', options: [options[0], options[3]] }],
      i18n: translated(['Tee', 'Kaffee']),
    })
    const clean = { steps: [{ options: ['Tea'] }, 'no step'] }
    expect(withoutBlankOptions(clean)).toBe(clean)
  })
})

describe('the fields of a step', () => {
  it.each([
    [
      { type: 'text' },
      'title required description placeholder minLength maxLength pattern buttonText logoUrl redirectUrl background branches',
    ],
    [
      { type: 'payment' },
      'title required description amount currency buttonText logoUrl redirectUrl background branches',
    ],
    [
      { type: 'end', required: true },
      'title required description buttonText logoUrl redirectUrl background branches',
    ],
    [
      { type: 'other', options: ['Tea'], background: { type: 'video' } },
      'title required description options buttonText logoUrl redirectUrl branches',
    ],
    // Values of another kind are edited as JSON.
    [
      { type: 'choice', options: [{ label: 'Tea' }], required: 'yes' },
      'title description buttonText logoUrl redirectUrl background branches',
    ],
    [
      { type: 'choice', options: ['one\ntwo'] },
      'title required description buttonText logoUrl redirectUrl background branches',
    ],
    [
      { type: 'constructor' },
      'title required description buttonText logoUrl redirectUrl background branches',
    ],
  ])('%j', (step, names) => {
    expect(
      membersWithField(step)
        .map(([name]) => name)
        .join(' '),
    ).toBe(names)
  })
})
