import { createHash } from 'node:crypto'
import { FormDraft } from '@fms/contracts'

/** Number of forms whose names share a prefix and a word, which is what a filtered list and a search find. */
const formsPerPrefix = 10

/** Id of the form with this number: a UUID derived from the number, so that every process computes the same one. */
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

/** Name of the form with this number, such as `Customer feedback 0000123 qwhzkfab`. All names are equally long. */
export const formNameOf = (number: number): string =>
  `${namePrefix}${`${number}`.padStart(digits, '0')} ${wordOf(number)}`

/** Prefix of the form's name. {@link formsPerPrefix} forms have it. */
export const prefixOf = (number: number): string =>
  formNameOf(number).slice(0, namePrefix.length + digits - 1)

/** Eight letters at the end of the form's name. {@link formsPerPrefix} forms have them. */
export const wordOf = (number: number): string =>
  [
    ...createHash('md5')
      .update(`word ${Math.floor(number / formsPerPrefix)}`)
      .digest()
      .subarray(0, 8),
  ]
    .map((byte) => String.fromCharCode(97 + (byte % 26)))
    .join('')

const digits = 7

const namePrefix = 'Customer feedback '

const question = (number: number) => ({
  type: number % 2 ? 'rating' : 'text',
  key: `question-${number}`,
  title: `How satisfied are you with part ${number} of our service?`,
  description: 'Think of the last four weeks; a short answer is enough.',
  required: number % 2 === 0,
})

/** How many of `forms` forms are published and so have a live revision to read. */
const publishedForms = (forms: number): number => Math.min(forms, 10_000)

/** Whether the form with this number is published before the run. Published forms are spread evenly. */
export const isPublished = (number: number, forms: number): boolean =>
  number % Math.floor(forms / publishedForms(forms)) === 0

export const randomPublished = (forms: number): number =>
  Math.floor(Math.random() * publishedForms(forms)) * Math.floor(forms / publishedForms(forms))

/** A publishable form of 700 KB: six of them fill a page. */
export const largeDraft = (): FormDraft => ({
  ...draft,
  name: formNameOf(0),
  context: Array.from({ length: 900 }, (_, index) => `${index} `.padEnd(760, 'x')),
})

/** A publishable form of ten steps, about 3 KB as JSON. */
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

/** A form as a bare server returns it: with the fields that the product adds to a draft, so that it is equally long. */
export const bareForm = <Draft extends object>(
  organizationId: string,
  formId: string,
  publicId: string,
  draft: Draft,
  time: number,
) => ({
  path: `organizations/${organizationId}/forms/${formId}`,
  publicId,
  publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
  createTime: new Date(time).toISOString(),
  updateTime: new Date(time).toISOString(),
  live: false,
  replyCount: 0,
  ...draft,
})
