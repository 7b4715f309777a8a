import { createHash } from 'node:crypto'
import { FormDraft } from '@fms/contracts'

/** Forms whose names share all but the last digit: what the filtered list of the benchmark finds. */
export const formsPerPrefix = 10

/** The id of the form with this number: a UUID that looks random, the same in every process. */
export const formIdOf = (number: number): string => {
  const hex = createHash('md5').update(`form ${number}`).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}

export const formNameOf = (number: number): string => `${namePrefix}${`${number}`.padStart(7, '0')}`

/** The prefix of the form's name that it shares with {@link formsPerPrefix} forms, itself among them. */
export const prefixOf = (number: number): string => formNameOf(number).slice(0, -1)

const namePrefix = 'Customer feedback '

const question = (number: number) => ({
  type: number % 2 ? 'rating' : 'text',
  key: `question-${number}`,
  title: `How satisfied are you with part ${number} of our service?`,
  description: 'Think of the last four weeks; a short answer is enough.',
  required: number % 2 === 0,
})

/** A form as makers write them: ten steps, about 3 KB as JSON, and fit to be published. */
export const draftOf = (number: number): FormDraft => ({ ...draft, name: formNameOf(number) })

const draft = FormDraft.parse({
  description: 'Tells the team what customers think of the service, and what to mend first.',
  context: ['We answer within two working days.', 'Refunds take a week.'],
  steps: [
    { type: 'start', key: 'start', title: 'How was it?', description: 'Two minutes.', buttonText: 'Begin' },
    ...Array.from({ length: 8 }, (_, index) => question(index + 1)),
    { type: 'end', key: 'end', title: 'Thank you', description: 'Your answers reach the team today.' },
  ],
})
