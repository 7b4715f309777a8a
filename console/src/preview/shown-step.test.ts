import type { Form, Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { textsIn } from './shown-step.ts'

describe('the texts of a step', () => {
  const i18n: Form['i18n'] = {
    sourceLocale: 'en',
    supportedLocales: ['en', 'de'],
    translations: {
      de: {
        steps: {
          day: {
            title: { value: 'Welcher Tag?', override: false, sourceHash: '', stale: false },
            options: [{ value: 'Freitag', override: false, sourceHash: '', stale: false }],
          },
        },
      },
    },
  }
  const step: Step = {
    type: 'choice',
    key: 'day',
    title: 'Which day?',
    options: ['Friday', { key: 'sat', label: 'Saturday' }, { key: '', label: 'Sunday' }],
  }

  it('are those of the language, and of the source language where they are missing', () => {
    expect(textsIn({ i18n }, step, 'de')).toEqual({
      title: 'Welcher Tag?',
      description: '',
      buttonText: '',
      options: [
        { label: 'Freitag', value: 'Friday' },
        { label: 'Saturday', value: 'sat' },
        { label: 'Sunday', value: 'Sunday' },
      ],
    })
    expect(textsIn({ i18n }, step, 'DE').title).toBe('Welcher Tag?')
    expect(textsIn({ i18n }, step, 'EN').title).toBe('Which day?')
    expect(textsIn({ i18n }, { ...step, key: 'constructor' }, 'de').title).toBe('Which day?')
  })
})
