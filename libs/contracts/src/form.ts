import { z } from 'zod'
import { Uuid } from './organization.ts'
import { Background, Step } from './step.ts'
import { Count, LanguageTag, OptionalUrl, openValue, Timestamp, text } from './text.ts'

const string = z.string().default('')
const toggle = z.strictObject({ enabled: z.boolean().default(false) }).prefault({})
const atLeastZero = z.number().min(0, { error: 'must be 0 or more' })
const color = text(64)

/** A map in which a member without a value counts as removed (RFC 7396). */
const mapOf = <K extends z.ZodType<string, string>, V extends z.ZodType>(key: K, value: V) =>
  z.preprocess(
    (map) =>
      isObject(map)
        ? Object.fromEntries(Object.entries(map).filter(([, entry]) => entry !== undefined))
        : map,
    z.record(key, value),
  )

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text in another language, and whether its source has changed since. */
const TranslatedValue = z.strictObject({
  override: z.boolean().default(false),
  sourceHash: string,
  stale: z.boolean().default(false),
  value: string,
})

const TranslatedStep = z.strictObject({
  buttonText: TranslatedValue.optional(),
  description: TranslatedValue.optional(),
  title: TranslatedValue.optional(),
  options: z.array(TranslatedValue).default([]),
})

/** Everything of a form in one language. */
const TranslationSet = z.strictObject({
  description: TranslatedValue.optional(),
  name: TranslatedValue.optional(),
  steps: mapOf(z.string(), TranslatedStep).prefault({}),
})

const I18n = z.strictObject({
  sourceLocale: LanguageTag.default('en'),
  /** Unique after canonical casing, stored as sent. */
  supportedLocales: z.array(LanguageTag).default(['en']).superRefine(refuseRepeatedLocales, whenArray()),
  translations: mapOf(LanguageTag, TranslationSet).prefault({}),
})

const MarketplaceService = z.strictObject({
  category: string,
  description: string,
  duration: string,
  name: string,
  priceRange: z
    .strictObject({ currency: string, max: atLeastZero.default(0), min: atLeastZero.default(0) })
    .optional(),
})

const Marketplace = z.strictObject({
  bookingUrl: OptionalUrl.default(''),
  category: string,
  description: string,
  enabled: z.boolean().default(false),
  industry: string,
  languages: z.array(z.string()).default([]),
  location: z.strictObject({ address: string, area: string, city: string }).prefault({}),
  name: string,
  services: z.array(MarketplaceService).default([]),
})

const Theme = z.strictObject({
  backgroundColor: color.default('#ffffff'),
  buttonRadiusPx: atLeastZero.default(8),
  buttonSize: openValue.default('regular'),
  buttonTextColor: color.default('#ffffff'),
  fontFamily: openValue.default('sans'),
  foregroundColor: color.default('#111111'),
  primaryColor: color.default('#2563eb'),
  textAnimation: openValue.default('typing'),
  textSize: openValue.default('regular'),
})

export const FormType = z.enum(['structured', 'dynamic'])
export const FormMode = z.enum(['guided', 'conversational', 'voice'])

const draftShape = {
  /** AI Handoff links on the published start screen; read from the current form, without republishing. */
  aiHandoff: toggle,
  backgrounds: z.array(Background).max(100, { error: 'must have at most 100 items' }).default([]),
  branding: z
    .strictObject({
      enabled: z.boolean().default(false),
      logoLinkUrl: OptionalUrl.default(''),
      logoUrl: OptionalUrl.default(''),
    })
    .prefault({}),
  /** Concrete factual reference data for the AI, one fact an item; at most 1,000. */
  context: z.array(z.string()).max(1000, { error: 'must have at most 1000 items' }).default([]),
  defaultMode: FormMode.default('guided'),
  /** Summary of the form's purpose, at most 4,000 characters. */
  description: text(4000).default(''),
  i18n: I18n.prefault({}),
  leadScoring: z
    .strictObject({ enabled: z.boolean().default(false), high: string, low: string, medium: string })
    .prefault({}),
  marketplace: Marketplace.prefault({}),
  /** AI follow-up questions per response at most. */
  maxFollowUpQuestions: Count.default(3),
  /** 1 to 200 characters, not only white space. */
  name: text(200, 1)
    .refine((name) => name === '' || /[^\s\p{White_Space}]/u.test(name), {
      error: 'must not be only white space',
    })
    .default('Untitled form'),
  /** Start, questions and ends, in order; at most 1,000. A write replaces the whole list. */
  steps: z
    .array(Step)
    .max(1000, { error: 'must have at most 1000 items' })
    .default([])
    .superRefine(refuseRepeatedKeys, whenArray()),
  theme: Theme.prefault({}),
  /** Conversational tone, at most 200 characters. */
  tone: text(200).default('professional'),
  /** Fixed at creation. */
  type: FormType.default('structured'),
  voice: toggle,
}

/** What a maker owns of a form. Parsing fills every default (decisions, section 2). */
export const FormDraft = z
  .strictObject(draftShape)
  .superRefine(refusePaymentWithoutGuide, { when: ({ value }) => isObject(value) })
export type FormDraft = z.infer<typeof FormDraft>

/** Members that the service alone writes; in a request they are ignored (AIP-203). */
const serverOwnedShape = {
  createTime: Timestamp,
  /** True when one of the form's revisions carries the alternate id `live`. */
  live: z.boolean().default(false),
  /** `organizations/{organization_id}/forms/{form_id}` */
  path: z.string().regex(/^organizations\/[0-9a-f-]{36}\/forms\/[0-9a-f-]{36}$/),
  /** 10 letters and digits, unique over the service; `""` in a dry run. */
  publicId: z.string().regex(/^([A-Za-z0-9]{10})?$/),
  publicUrl: z.string(),
  replyCount: Count,
  updateTime: Timestamp,
}

export const serverOwnedFields = Object.keys(serverOwnedShape) as (keyof typeof serverOwnedShape)[]

/** Members that a patch cannot clear with `null`, nor a create leave out with it. */
export const unclearableFields = ['name', 'type', 'defaultMode'] as const satisfies (keyof FormDraft)[]

/** A form as clients read it: the current draft, and what the service knows of it. */
export const Form = z.strictObject({ ...draftShape, ...serverOwnedShape })
export type Form = z.infer<typeof Form>

/** The ids that name one form. */
export const FormPath = z.strictObject({ organizationId: Uuid, formId: Uuid })
export type FormPath = z.infer<typeof FormPath>

export const formPath = ({ organizationId, formId }: FormPath) =>
  `organizations/${organizationId}/forms/${formId}`

/** Whether a reference could be a public id: 10 letters and digits. */
export const isPublicId = (ref: string): boolean => /^[A-Za-z0-9]{10}$/.test(ref)

interface Context {
  addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void
}

function whenArray() {
  return { when: ({ value }: { value: unknown }) => Array.isArray(value) }
}

function refuseRepeatedKeys(steps: unknown[], context: Context): void {
  refuseRepeated(
    steps.map((step) => (isObject(step) ? step.key : undefined)),
    (index, first) =>
      context.addIssue({
        code: 'custom',
        path: [index, 'key'],
        message: `repeats the key of steps[${first}]`,
      }),
  )
}

function refuseRepeatedLocales(locales: unknown[], context: Context): void {
  refuseRepeated(
    locales.map((locale) => (typeof locale === 'string' ? locale.toLowerCase() : undefined)),
    (index, first) =>
      context.addIssue({ code: 'custom', path: [index], message: `repeats supportedLocales[${first}]` }),
  )
}

function refuseRepeated(values: unknown[], report: (index: number, first: number) => void): void {
  const seen = new Map<unknown, number>()
  values.forEach((value, index) => {
    if (value === undefined) return
    const first = seen.get(value)
    if (first === undefined) seen.set(value, index)
    else report(index, first)
  })
}

function refusePaymentWithoutGuide(draft: unknown, context: Context): void {
  const { steps, defaultMode } = draft as Partial<FormDraft>
  if (
    Array.isArray(steps) &&
    hasPaymentStep(steps) &&
    defaultMode !== undefined &&
    defaultMode !== 'guided'
  ) {
    context.addIssue({
      code: 'custom',
      path: ['defaultMode'],
      message: 'must be "guided" in a form with a payment step',
    })
  }
}

/** Whether a form takes money: one of its steps is of type `payment`. */
export const hasPaymentStep = (steps: readonly unknown[]): boolean =>
  steps.some((step) => isObject(step) && step.type === 'payment')
