/** What kind of value a member of a step has. */
export type MemberKind =
  | 'text'
  | 'url'
  | 'flag'
  | 'integer'
  | 'number'
  | 'date'
  | 'time'
  | 'pattern'
  | 'currency'
  | 'texts'
  | 'options'
  | 'background'
  | 'branches'

/** A member of a step, and the bounds of a number. */
export interface StepMember {
  readonly kind: MemberKind
  readonly minimum?: number
  readonly maximum?: number
}

const screen = {
  title: { kind: 'text' },
  description: { kind: 'text' },
  buttonText: { kind: 'text' },
  logoUrl: { kind: 'url' },
  redirectUrl: { kind: 'url' },
  background: { kind: 'background' },
  branches: { kind: 'branches' },
} as const satisfies Record<string, StepMember>
const question = { ...screen, required: { kind: 'flag' } } as const
const placeholder = { kind: 'text' } as const
const length = { kind: 'integer', minimum: 0 } as const
const lengths = { minLength: length, maxLength: length } as const
const options = { kind: 'options' } as const
const labels = { kind: 'texts' } as const
const count = { kind: 'integer', minimum: 0 } as const

/** The types of steps that the console offers, each with its members. The service stores any other type and member, too. */
export const stepTypes: Readonly<Record<string, { readonly members: Readonly<Record<string, StepMember>> }>> =
  {
    start: { members: screen },
    end: { members: screen },
    statement: { members: screen },
    text: { members: { ...question, placeholder, ...lengths, pattern: { kind: 'pattern' } } },
    'long-text': { members: { ...question, placeholder, ...lengths } },
    email: { members: { ...question, placeholder } },
    phone: { members: { ...question, placeholder } },
    url: { members: { ...question, placeholder } },
    number: {
      members: {
        ...question,
        placeholder,
        min: { kind: 'number' },
        max: { kind: 'number' },
        step: { kind: 'number', minimum: 0 },
      },
    },
    date: { members: { ...question, min: { kind: 'date' }, max: { kind: 'date' } } },
    time: { members: { ...question, min: { kind: 'time' }, max: { kind: 'time' } } },
    'yes-no': { members: { ...question, labels } },
    choice: { members: { ...question, options } },
    'multiple-choice': { members: { ...question, options, min: count, max: count } },
    dropdown: { members: { ...question, options, placeholder } },
    rating: { members: { ...question, max: { kind: 'integer', minimum: 2, maximum: 20 }, labels } },
    scale: {
      members: {
        ...question,
        min: { kind: 'integer' },
        max: { kind: 'integer' },
        step: { kind: 'integer', minimum: 1 },
        labels,
      },
    },
    ranking: { members: { ...question, options } },
    file: { members: { ...question, accept: { kind: 'texts' }, max: count } },
    signature: { members: question },
    payment: {
      members: { ...question, amount: { kind: 'number', minimum: 0 }, currency: { kind: 'currency' } },
    },
  }
