// Plain data without imports, so that the console can bundle it.

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

/** A member of a step: its kind of value, its bounds, and what it means for respondents. */
export interface StepMember {
  readonly kind: MemberKind
  readonly meaning: string
  readonly minimum?: number
  readonly maximum?: number
  /** Whether respondents miss something without it. */
  readonly expected?: true
}

export interface StepType {
  readonly meaning: string
  /** Other names that people look for, in lower case without `-` and `_`. */
  readonly aliases: readonly string[]
  /** Its members beside `type` and `key`. */
  readonly members: Readonly<Record<string, StepMember>>
}

const screen = {
  title: { kind: 'text', expected: true, meaning: 'The heading or the question.' },
  description: { kind: 'text', meaning: 'A text below the title.' },
  buttonText: { kind: 'text', meaning: 'The text of the button that leads on.' },
  logoUrl: { kind: 'url', meaning: 'An image above the title.' },
  redirectUrl: { kind: 'url', meaning: 'Where the browser goes when respondents leave the screen.' },
  background: { kind: 'background', meaning: 'An image behind the screen.' },
  branches: {
    kind: 'branches',
    meaning:
      'Where respondents go from here. The first branch that holds counts; without one, the next step follows.',
  },
} as const satisfies Record<string, StepMember>

const question = {
  ...screen,
  required: { kind: 'flag', meaning: 'Whether respondents must answer before they go on. Default: `false`.' },
} as const satisfies Record<string, StepMember>

const placeholder = { kind: 'text', meaning: 'An example that the empty field shows.' } as const
const length = (bound: string) =>
  ({
    kind: 'integer',
    minimum: 0,
    maximum: 100_000,
    meaning: `The ${bound} number of characters of an answer.`,
  }) as const
const lengths = { minLength: length('smallest'), maxLength: length('largest') } as const
const labels = {
  kind: 'texts',
  meaning: 'Texts of the values: one for each, or two for the lowest and the highest.',
} as const
const options = {
  kind: 'options',
  expected: true,
  meaning: 'What respondents choose from: texts, or objects with `key` and `label`.',
} as const
const atLeast = (kind: 'number' | 'date' | 'time', form = '') =>
  ({ kind, meaning: `The smallest answer${form}.` }) as const
const atMost = (kind: 'number' | 'date' | 'time', form = '') =>
  ({ kind, meaning: `The largest answer${form}.` }) as const

/** The types of steps that console and public page know. Other types and members are stored as sent, but for start steps. */
export const stepTypes = {
  start: {
    meaning: 'The first screen. A form has at most one.',
    aliases: ['welcome', 'intro', 'cover'],
    members: screen,
  },
  end: {
    meaning: 'A last screen. A form may have several; branches lead to those after the first.',
    aliases: ['thankyou', 'thanks', 'ending', 'finish'],
    members: screen,
  },
  statement: {
    meaning: 'A text between questions. It has no answer.',
    aliases: ['info', 'message', 'content', 'section'],
    members: screen,
  },
  text: {
    meaning: 'A question with a short text as its answer.',
    aliases: ['shorttext', 'name', 'string', 'input'],
    members: {
      ...question,
      placeholder,
      ...lengths,
      pattern: {
        kind: 'pattern',
        meaning: 'A regular expression that the whole answer must match, as in HTML.',
      },
    },
  },
  'long-text': {
    meaning: 'A question with a text of several lines as its answer.',
    aliases: ['textarea', 'paragraph', 'multiline', 'comment'],
    members: { ...question, placeholder, ...lengths },
  },
  email: {
    meaning: 'A question for an email address.',
    aliases: ['mail', 'emailaddress'],
    members: { ...question, placeholder },
  },
  phone: {
    meaning: 'A question for a telephone number.',
    aliases: ['tel', 'telephone', 'phonenumber', 'mobile'],
    members: { ...question, placeholder },
  },
  url: {
    meaning: 'A question for a web address.',
    aliases: ['website', 'link', 'weburl'],
    members: { ...question, placeholder },
  },
  number: {
    meaning: 'A question for a number.',
    aliases: ['integer', 'numeric', 'quantity'],
    members: {
      ...question,
      placeholder,
      min: atLeast('number'),
      max: atMost('number'),
      step: {
        kind: 'number',
        minimum: 0,
        meaning: 'Answers are `min`, or 0, plus a multiple of it. Default: any number.',
      },
    },
  },
  date: {
    meaning: 'A question for a day.',
    aliases: ['day', 'datepicker', 'calendar'],
    members: {
      ...question,
      min: atLeast('date', ', such as `2026-01-31`'),
      max: atMost('date', ', such as `2026-12-31`'),
    },
  },
  time: {
    meaning: 'A question for a time of day.',
    aliases: ['timeofday', 'timepicker'],
    members: {
      ...question,
      min: atLeast('time', ', such as `09:00`'),
      max: atMost('time', ', such as `17:30`'),
    },
  },
  'yes-no': {
    meaning: 'A question whose answer is `yes` or `no`.',
    aliases: ['boolean', 'confirm', 'consent', 'legal'],
    members: { ...question, labels: { kind: 'texts', meaning: 'Two texts, for `yes` and `no`.' } },
  },
  choice: {
    meaning: 'A question with one of several options as its answer.',
    aliases: ['singlechoice', 'radio', 'singleselect', 'select', 'pick'],
    members: { ...question, options },
  },
  'multiple-choice': {
    meaning: 'A question with any number of options as its answer.',
    aliases: ['checkbox', 'checkboxes', 'multiselect', 'multichoice'],
    members: {
      ...question,
      options,
      min: {
        kind: 'integer',
        minimum: 0,
        maximum: 1000,
        meaning: 'The smallest number of options to choose.',
      },
      max: {
        kind: 'integer',
        minimum: 1,
        maximum: 1000,
        meaning: 'The largest number of options to choose.',
      },
    },
  },
  dropdown: {
    meaning: 'A question with one option of a long list as its answer.',
    aliases: ['combobox', 'picklist', 'listbox'],
    members: { ...question, options, placeholder },
  },
  rating: {
    meaning: 'A question whose answer is 1 to `max` stars.',
    aliases: ['stars', 'score'],
    members: {
      ...question,
      max: { kind: 'integer', minimum: 2, maximum: 20, expected: true, meaning: 'The number of stars.' },
      labels,
    },
  },
  scale: {
    meaning: 'A question whose answer is a whole number from `min` to `max`.',
    aliases: ['nps', 'likert', 'opinionscale', 'slider', 'range'],
    members: {
      ...question,
      min: { kind: 'integer', minimum: -100, maximum: 100, expected: true, meaning: 'The lowest value.' },
      max: { kind: 'integer', minimum: -100, maximum: 100, expected: true, meaning: 'The highest value.' },
      step: { kind: 'integer', minimum: 1, maximum: 200, meaning: 'The distance of two values. Default: 1.' },
      labels,
    },
  },
  ranking: {
    meaning: 'A question whose answer is the options in an order.',
    aliases: ['rank', 'order', 'sort'],
    members: { ...question, options },
  },
  file: {
    meaning: 'A question that respondents answer with files.',
    aliases: ['fileupload', 'upload', 'attachment', 'image'],
    members: {
      ...question,
      accept: {
        kind: 'texts',
        meaning: 'The media types or name endings that are taken, such as `image/*` or `.pdf`.',
      },
      max: { kind: 'integer', minimum: 1, maximum: 100, meaning: 'The largest number of files. Default: 1.' },
    },
  },
  signature: {
    meaning: 'A question that respondents answer by signing.',
    aliases: ['sign', 'esignature'],
    members: question,
  },
  payment: {
    meaning: 'A payment. The form must have `defaultMode: "guided"`.',
    aliases: ['pay', 'checkout', 'purchase'],
    members: {
      ...question,
      amount: {
        kind: 'number',
        minimum: 0,
        expected: true,
        meaning: 'The price in units of the currency, such as `12.5`.',
      },
      currency: { kind: 'currency', expected: true, meaning: 'The currency (ISO 4217), such as `EUR`.' },
    },
  },
} as const satisfies Record<string, StepType>

export type StepTypeName = keyof typeof stepTypes

/** The operators of conditions. `negate` inverts them; letter case is ignored; of several options, one has to match. */
export const conditionOperators = {
  equals: 'The answer is `value`.',
  contains: 'The answer contains `value`.',
  startsWith: 'The answer starts with `value`.',
  greaterThan: 'The answer, as a number, is greater than `value`.',
  lessThan: 'The answer, as a number, is less than `value`.',
  isAnswered: 'There is an answer; `value` does not count.',
  includes: 'The option `value` is among the chosen ones.',
} as const

/** The reasons of warnings, each with what it is about. Programs may branch on them. */
export const warningReasons = {
  TYPE_UNKNOWN: 'The type of a step is not in the catalogue.',
  MEMBER_UNKNOWN: 'Steps of this type have no such member in the catalogue.',
  MEMBER_INVALID: 'The value of a member is not what the catalogue expects.',
  MEMBER_MISSING:
    'Respondents miss a member: a title, options, the `max` of a rating, the groups of a branch.',
  OPTION_BLANK: 'An option has no text.',
  OPTION_REPEATED: 'Two options of a step are the same.',
  OPERATOR_UNKNOWN: 'The operator of a condition is not in the catalogue, so that the condition never holds.',
  VALUE_UNKNOWN:
    'A condition compares with what is no answer to its question: the value is neither the key of an option nor the text of one without a key.',
  BRANCH_TARGET_MISSING: 'A branch leads to no step of the form. A publish refuses it, too.',
  BRANCH_ENDLESS: 'A branch that always holds leads back, and respondents can never leave the loop.',
  STEP_UNREACHABLE: 'No respondent can get to a step.',
  END_MISSING: 'The form has questions, but no end.',
  COLOR_INVALID: 'A colour of the theme is not of the form `#rgb`, `#rrggbb` or `#rrggbbaa`.',
  LOCALE_UNTRANSLATED: 'A supported locale has no translations.',
} as const

export type WarningReason = keyof typeof warningReasons
