import type { FormInput } from '@fms/client'

/** Forms to begin with. */
export const examples: readonly {
  id: 'blank' | 'feedback' | 'registration' | 'interview'
  form: FormInput
}[] = [
  { id: 'blank', form: {} },
  {
    id: 'feedback',
    form: {
      name: 'Customer feedback',
      description: 'Asks guests how their visit was.',
      tone: 'friendly',
      steps: [
        { type: 'start', key: 'welcome', title: 'How was your visit?', buttonText: 'Start' },
        { type: 'rating', key: 'stars', title: 'How many stars do you give us?', max: 5 },
        {
          type: 'long-text',
          key: 'reason',
          title: 'What should we do better?',
        },
        {
          type: 'yes-no',
          key: 'again',
          title: 'Would you come again?',
          branches: [
            {
              targetStepKey: 'sorry',
              groups: [[{ stepKey: 'again', operator: 'equals', value: 'no' }]],
            },
          ],
        },
        { type: 'end', key: 'thanks', title: 'Thank you. See you soon!' },
        { type: 'end', key: 'sorry', title: 'We are sorry. We read every answer.' },
      ],
    },
  },
  {
    id: 'registration',
    form: {
      name: 'Event registration',
      steps: [
        { type: 'start', key: 'welcome', title: 'Join our event', buttonText: 'Register' },
        { type: 'text', key: 'name', title: 'Your name' },
        { type: 'email', key: 'email', title: 'Your e-mail address' },
        { type: 'choice', key: 'day', title: 'Which day?', options: ['Friday', 'Saturday', 'Both'] },
        { type: 'end', key: 'done', title: 'You are registered' },
      ],
    },
  },
  {
    id: 'interview',
    form: {
      name: 'Product interview',
      type: 'dynamic',
      defaultMode: 'conversational',
      description: 'Finds out how people use the product and what they miss.',
      maxFollowUpQuestions: 5,
      steps: [{ type: 'start', key: 'welcome', title: 'Tell us how you work', buttonText: 'Begin' }],
    },
  },
]
