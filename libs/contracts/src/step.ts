import { z } from 'zod'
import { bounded } from './parts/bounded.ts'
import {
  conditionOperators,
  type MemberKind,
  type StepMember,
  type StepType,
  stepTypes,
} from './steps/catalogue.ts'
import { OptionalUrl, openValue, text } from './text.ts'

export const Background = z
  .strictObject({
    overlayOpacity: z
      .number()
      .min(0, { error: 'must be 0 to 1' })
      .max(1, { error: 'must be 0 to 1' })
      .default(0)
      .describe('0 (clear) to 1 (opaque).'),
    position: openValue.default('left-half'),
    type: openValue.describe('Such as `image`.'),
    url: OptionalUrl,
  })
  .meta({ id: 'Background', description: 'A media asset in the background of a screen.' })

/** A comparison with the answer to an earlier step. */
export const Condition = z
  .strictObject({
    negate: z.boolean().default(false).describe('Turns the result round.'),
    operator: openValue.describe(
      `Any text; the catalogue has ${Object.keys(conditionOperators)
        .map((name) => `\`${name}\``)
        .join(', ')}.`,
    ),
    stepKey: z.string(),
    value: z
      .string()
      .default('')
      .describe(
        'What the answer is compared with: the `key` of an option if it has one, else its text; `yes` or `no`; a number as text.',
      ),
  })
  .meta({ id: 'Condition', description: 'A comparison with the answer to an earlier step.' })

/** A jump to another step if one of the groups holds. */
export const Branch = z
  .strictObject({
    groups: z
      .array(bounded(z.array(bounded(Condition))))
      .default([])
      .describe(
        'A branch holds if one of its groups does; a group, if all of its conditions do. `[[]]` always holds, `[]` never.',
      ),
    targetStepKey: z.string(),
  })
  .meta({ id: 'Branch', description: 'A jump to another step if one of the groups holds.' })

/** An option whose key stays when its label changes. */
const KeyedOption = z
  .strictObject({ key: z.string(), label: z.string() })
  .meta({ id: 'KeyedOption', description: 'An option whose key stays when its label changes.' })

/** What respondents can choose: a text, or a label with a key that stays when the label changes. */
export const StepOption = z
  .union([z.string(), KeyedOption], { error: 'must be a text, or an object with key and label' })
  .meta({ id: 'StepOption', description: 'A text, or a label with a key that stays when the label changes.' })

/** Key of a step: 1 to 64 characters of `[A-Za-z0-9_-]`, unique in the form. */
export const StepKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -' })
  .describe('Unique in the form.')

/** The members of every step. */
const { members } = stepTypes.start

const webAddress = ({ meaning }: StepMember) => OptionalUrl.describe(`${meaning} ${OptionalUrl.description}`)

export const StartStep = z
  .strictObject({
    type: z.literal('start'),
    key: StepKey,
    title: z.string().default('').describe(members.title.meaning),
    description: z.string().default('').describe(members.description.meaning),
    buttonText: z.string().default('').describe(members.buttonText.meaning),
    logoUrl: webAddress(members.logoUrl).default(''),
    redirectUrl: webAddress(members.redirectUrl).default(''),
    background: Background.optional().describe(members.background.meaning),
    branches: z.array(bounded(Branch)).default([]).describe(members.branches.meaning),
  })
  .meta({ id: 'StartStep', description: 'The first screen. It has the members of `end`, and no others.' })

/** The schemas of the members by their kinds, apart from bounds. */
const memberKinds: Record<MemberKind, (member: StepMember) => z.ZodType> = {
  text: () => z.string(),
  url: () => OptionalUrl,
  flag: () => z.boolean(),
  integer: ({ minimum, maximum }) => within(z.int(), minimum, maximum),
  number: ({ minimum, maximum }) => within(z.number(), minimum, maximum),
  date: () => z.iso.date({ error: 'must be a date such as 2026-01-31' }),
  time: () => z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, { error: 'must be a time such as 09:30' }),
  pattern: () =>
    z.string().refine(isPattern, { error: 'must be a regular expression' }).meta({ format: 'regex' }),
  currency: () => z.string().regex(/^[A-Z]{3}$/, { error: 'must be a currency such as EUR' }),
  texts: () => z.array(bounded(z.string())),
  options: () => z.array(bounded(StepOption)),
  background: () => Background,
  branches: () => z.array(bounded(Branch)),
}

const within = (number: z.ZodNumber, minimum?: number, maximum?: number) => {
  const atLeast =
    minimum === undefined ? number : number.min(minimum, { error: `must be ${minimum} or more` })
  return maximum === undefined ? atLeast : atLeast.max(maximum, { error: `must be ${maximum} or less` })
}

/** Longer ones are not tried. */
const maxPatternLength = 1000

const isPattern = (pattern: string): boolean => {
  if (pattern.length > maxPatternLength) return false
  try {
    return new RegExp(pattern, 'v') !== undefined
  } catch {
    return false
  }
}

const memberSchemas = (members: StepType['members']): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(members).map(([name, member]) => [
      name,
      memberKinds[member.kind](member).optional().describe(member.meaning),
    ]),
  )

const variantOf = (type: string, { meaning, members }: StepType) =>
  z
    .strictObject({ type: z.literal(type), key: StepKey, ...memberSchemas(members) })
    .meta({ id: `${pascalCase(type)}Step`, description: meaning })

const pascalCase = (type: string) =>
  type.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())

/** The variants of the catalogue by type, but for {@link StartStep}. They describe steps, and refuse none. */
export const catalogueSteps: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(stepTypes)
    .filter(([type]) => type !== 'start')
    .map(([type, stepType]) => [type, variantOf(type, stepType)]),
)

/** An end screen (`"end"`), a payment (`"payment"`) or another question. Unknown members are stored as sent. */
export const OpenStep = z
  .looseObject({
    type: text(64, 1)
      .refine((type) => type !== 'start', { error: 'must not be "start"' })
      .describe('`end`, `payment`, or any other type of question.'),
    key: StepKey,
    title: z.string().optional().describe(members.title.meaning),
    description: z.string().optional().describe(members.description.meaning),
    buttonText: z.string().optional().describe(members.buttonText.meaning),
    logoUrl: webAddress(members.logoUrl).optional(),
    redirectUrl: webAddress(members.redirectUrl).optional(),
    background: Background.optional().describe(members.background.meaning),
    branches: z.array(bounded(Branch)).optional().describe(members.branches.meaning),
  })
  .meta({
    id: 'OpenStep',
    not: { properties: { type: { const: 'start' } } },
    description:
      'An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. Other members are stored as sent.',
  })

/** A screen of the form; `type` names the variant. */
export const Step = z
  .union([StartStep, ...catalogueSteps.values(), OpenStep] as unknown as [typeof StartStep, typeof OpenStep])
  .meta({
    id: 'Step',
    description:
      'A screen of the form. `type` names the variant. Except for `start`, the variants are recommendations: other types and members are stored as sent.',
  })
export type Step = z.infer<typeof Step>

// A Zod union tries all variants and reports the issues of each. `type` names the variant, so only that one runs.
Step._zod.run = (payload, context) => {
  const { type } = (payload.value ?? {}) as { type?: unknown }
  return (type === 'start' ? StartStep : OpenStep)._zod.run(payload, context)
}
