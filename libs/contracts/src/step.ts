import { z } from 'zod'
import { bounded } from './bounded.ts'
import { OptionalUrl, openValue, text } from './text.ts'

/** A media asset in the background of a screen. */
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
    negate: z.boolean().default(false),
    operator: openValue.describe('Such as `equals`.'),
    stepKey: z.string(),
    value: z.string().default(''),
  })
  .meta({ id: 'Condition', description: 'A comparison with the answer to an earlier step.' })

/** A jump to another step if one of the groups holds. A group holds if all of its conditions hold. */
export const Branch = z
  .strictObject({
    groups: z
      .array(bounded(z.array(bounded(Condition))))
      .default([])
      .describe('The jump requires one group that holds. A group holds if all of its conditions hold.'),
    targetStepKey: z.string(),
  })
  .meta({ id: 'Branch', description: 'A jump to another step if one of the groups holds.' })

/** Key of a step: 1 to 64 characters of `[A-Za-z0-9_-]`, unique in the form. */
export const StepKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -' })
  .describe('Unique in the form.')

/** The first screen. It has these members and no others. */
export const StartStep = z
  .strictObject({
    type: z.literal('start'),
    key: StepKey,
    title: z.string().default(''),
    description: z.string().default(''),
    buttonText: z.string().default(''),
    logoUrl: OptionalUrl.default(''),
    redirectUrl: OptionalUrl.default(''),
    background: Background.optional(),
    branches: z.array(bounded(Branch)).default([]),
  })
  .meta({ id: 'StartStep', description: 'The first screen. It has these members and no others.' })

/**
 * An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. All members of a start step are
 * optional. Unknown members are stored as sent.
 */
export const OpenStep = z
  .looseObject({
    type: text(64, 1)
      .refine((type) => type !== 'start', { error: 'must not be "start"' })
      .describe('`end`, `payment`, or any other type of question.'),
    key: StepKey,
    title: z.string().optional(),
    description: z.string().optional(),
    buttonText: z.string().optional(),
    logoUrl: OptionalUrl.optional(),
    redirectUrl: OptionalUrl.optional(),
    background: Background.optional(),
    branches: z.array(bounded(Branch)).optional(),
  })
  .meta({
    id: 'OpenStep',
    not: { properties: { type: { const: 'start' } } },
    description:
      'An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. Other members are stored as sent.',
  })

/** A screen of the form; `type` names the variant. */
export const Step = z.union([StartStep, OpenStep]).meta({
  id: 'Step',
  description: 'A screen of the form. `type: "start"` is a StartStep, every other type an OpenStep.',
})
export type Step = z.infer<typeof Step>

// A Zod union tries all variants and reports the issues of each. `type` names the variant, so only that one runs.
Step._zod.run = (payload, context) => {
  const { type } = (payload.value ?? {}) as { type?: unknown }
  return (type === 'start' ? StartStep : OpenStep)._zod.run(payload, context)
}
