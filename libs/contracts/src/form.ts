import { z } from 'zod'
import { bounded, maxReportedIssues } from './parts/bounded.ts'
import { Background, Step } from './step.ts'
import { Count, displayName, LanguageTag, OptionalUrl, openValue, Timestamp, text } from './text.ts'

const string = z.string().default('')
const toggle = z
  .strictObject({ enabled: z.boolean().default(false) })
  .meta({ id: 'Toggle' })
  .prefault({})
const atLeastZero = z.number().min(0, { error: 'must be 0 or more' })
const color = text(64)

/** A map schema that drops members whose value is `undefined`: a merge patch removed them (RFC 7396). */
const mapOf = <K extends z.ZodType<string, string>, V extends z.ZodType>(key: K, value: V) =>
  z.preprocess(
    (map) =>
      isObject(map) && Object.values(map).includes(undefined)
        ? Object.fromEntries(Object.entries(map).filter(([, entry]) => entry !== undefined))
        : map,
    z.record(bounded(key), bounded(value)),
  )

const listOf = <T extends z.ZodType>(item: T, max: number) =>
  z.array(bounded(item)).max(max, { error: `must have at most ${max} items` })

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TranslatedValue = z
  .strictObject({
    override: z.boolean().default(false),
    sourceHash: string,
    stale: z.boolean().default(false).describe('Whether the source text has changed since the translation.'),
    value: string,
  })
  .meta({ id: 'TranslatedValue', description: 'A text in another language.' })

const TranslatedStep = z
  .strictObject({
    buttonText: TranslatedValue.optional(),
    description: TranslatedValue.optional(),
    title: TranslatedValue.optional(),
    options: z
      .array(bounded(TranslatedValue))
      .default([])
      .describe('In the order of the options of the step.'),
  })
  .meta({ id: 'TranslatedStep' })

const TranslationSet = z
  .strictObject({
    description: TranslatedValue.optional(),
    name: TranslatedValue.optional(),
    steps: mapOf(z.string(), TranslatedStep).prefault({}).describe('Keyed by step key.'),
  })
  .meta({ id: 'TranslationSet', description: 'All texts of a form in one language.' })

const I18n = z
  .strictObject({
    sourceLocale: LanguageTag.default('en'),
    supportedLocales: z
      .array(bounded(LanguageTag))
      .default(['en'])
      .superRefine(rejectRepeatedLocales, whenArray())
      .describe('No duplicates, letter case ignored; stored as sent.'),
    translations: mapOf(LanguageTag, TranslationSet).prefault({}).describe('Keyed by BCP 47 language tag.'),
  })
  .meta({ id: 'I18n' })

const PriceRange = z
  .strictObject({ currency: string, max: atLeastZero.default(0), min: atLeastZero.default(0) })
  .meta({ id: 'PriceRange' })

const MarketplaceService = z
  .strictObject({
    category: string,
    description: string,
    duration: string,
    name: string,
    priceRange: PriceRange.optional(),
  })
  .meta({ id: 'MarketplaceService' })

const Location = z.strictObject({ address: string, area: string, city: string }).meta({ id: 'Location' })

const Marketplace = z
  .strictObject({
    bookingUrl: OptionalUrl.default(''),
    category: string,
    description: string,
    enabled: z.boolean().default(false),
    industry: string,
    languages: z.array(bounded(z.string())).default([]),
    location: Location.prefault({}),
    name: string,
    services: z.array(bounded(MarketplaceService)).default([]),
  })
  .meta({ id: 'Marketplace' })

const Theme = z
  .strictObject({
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
  .meta({ id: 'Theme', description: 'Colours are any text, the other texts any value.' })

const Branding = z
  .strictObject({
    enabled: z.boolean().default(false),
    logoLinkUrl: OptionalUrl.default(''),
    logoUrl: OptionalUrl.default(''),
  })
  .meta({ id: 'Branding' })

const LeadScoring = z
  .strictObject({ enabled: z.boolean().default(false), high: string, low: string, medium: string })
  .meta({ id: 'LeadScoring' })

export const FormType = z.enum(['structured', 'dynamic']).meta({ id: 'FormType' })
export const FormMode = z.enum(['guided', 'conversational', 'voice']).meta({ id: 'FormMode' })

/** What a field of a form is beside its schema. */
export interface FieldTraits {
  /** Filters of lists can name it (AIP-160). The type decides the operators. */
  filter?: { type: 'string' } | { type: 'enum'; values: readonly string[] } | { type: 'time' }
  /** Lists can be sorted by it (AIP-132): both engines have an index for it. */
  isSortable?: true
  /** `search()` and bare terms of filters search it. */
  isSearched?: true
  /** Rejects `null`, in a create and in a patch. */
  isUnclearable?: true
  /** Anybody may read it while the form is live. No other field ever leaves the service without a key. */
  isPublic?: true
}

const field = <S extends z.ZodType, const T extends FieldTraits>(schema: S, traits?: T) =>
  ({ schema, ...traits }) as { schema: S } & T

/** What a maker edits, in the order of the resource. docs/architecture.md says what a new field takes. */
const draftFields = {
  aiHandoff: field(
    toggle.describe(
      'AI Handoff links on the published start screen. A change takes effect without a publish.',
    ),
    { isPublic: true },
  ),
  backgrounds: field(listOf(Background, 100).default([]).describe('Media assets available in the form.'), {
    isPublic: true,
  }),
  branding: field(Branding.prefault({}), { isPublic: true }),
  context: field(
    listOf(z.string(), 1000).default([]).describe('Factual reference data for the AI, one fact per item.'),
  ),
  defaultMode: field(FormMode.default('guided').describe('Must be `guided` in a form with a payment step.'), {
    isUnclearable: true,
    isPublic: true,
  }),
  description: field(text(4000).default('').describe("Summary of the form's purpose."), { isPublic: true }),
  i18n: field(I18n.prefault({}), { isPublic: true }),
  leadScoring: field(LeadScoring.prefault({})),
  marketplace: field(Marketplace.prefault({})),
  maxFollowUpQuestions: field(
    Count.default(3).describe('Maximum number of AI follow-up questions per response.'),
  ),
  name: field(displayName(200).default('Untitled form').describe('Display name; not only white space.'), {
    filter: { type: 'string' },
    isSortable: true,
    isSearched: true,
    isUnclearable: true,
    isPublic: true,
  }),
  steps: field(
    listOf(Step, 1000)
      .default([])
      .superRefine(rejectRepeatedKeys, whenArray())
      .describe('Start screen, questions and end screens, in order. A write replaces the whole list.'),
    { isPublic: true },
  ),
  theme: field(Theme.prefault({}), { isPublic: true }),
  tone: field(
    text(200).default('professional').describe('Conversational tone, such as `professional` or `casual`.'),
  ),
  type: field(
    FormType.default('structured').describe(
      '`structured`: explicit steps; `dynamic`: an adaptive conversation. Immutable after creation.',
    ),
    { filter: { type: 'enum', values: FormType.options }, isUnclearable: true, isPublic: true },
  ),
  voice: field(toggle.describe('Whether respondents may reply by voice.'), { isPublic: true }),
}

/** Output-only fields (AIP-203): ignored in requests. */
const outputFields = {
  createTime: field(Timestamp, { filter: { type: 'time' }, isSortable: true }),
  live: field(z.boolean().default(false).describe('Whether the form has a live revision.')),
  path: field(
    z
      .string()
      .regex(/^organizations\/[0-9a-f-]{36}\/forms\/[0-9a-f-]{36}$/)
      .describe('`organizations/{organization_id}/forms/{form_id}`'),
  ),
  publicId: field(
    z
      .string()
      .regex(/^([A-Za-z0-9]{10})?$/)
      .describe(
        '10 letters and digits, unique in the service. `""` in the response to a create with `validateOnly`.',
      ),
    { filter: { type: 'string' }, isSortable: true, isPublic: true },
  ),
  publicUrl: field(
    z
      .string()
      .describe('URL of the form for respondents. `""` in the response to a create with `validateOnly`.'),
  ),
  replyCount: field(Count.describe('Number of replies received.'), { isSortable: true }),
  updateTime: field(Timestamp.describe('Time of the last change of the draft. Each change increases it.'), {
    filter: { type: 'time' },
    isSortable: true,
  }),
}

/** The names of the fields that have one of the traits. */
type Having<Fields, Traits> = {
  [Name in keyof Fields]: Fields[Name] extends Traits ? Name : never
}[keyof Fields]

const having = <Fields extends object, Name extends keyof FieldTraits>(fields: Fields, ...traits: Name[]) =>
  Object.entries(fields).flatMap(([name, field]) =>
    traits.some((trait) => trait in field) ? [name] : [],
  ) as Having<Fields, { [Trait in Name]: Required<Pick<FieldTraits, Trait>> }[Name]>[]

const shapeOf = <Fields extends Record<string, { schema: z.ZodType }>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])) as {
    [Name in keyof Fields]: Fields[Name]['schema']
  }

const draftShape = shapeOf(draftFields)

/** The fields of a form that its maker edits. Parsing fills in all defaults. */
export const FormDraft = z
  .strictObject(draftShape)
  .superRefine(requireGuidedModeForPayment, { when: ({ value }) => isObject(value) })
  .meta({ id: 'FormDraft', description: 'The fields of a form that its maker edits.' })
export type FormDraft = z.infer<typeof FormDraft>

export const formFields = { ...draftFields, ...outputFields }

/** Names of the output-only fields of a form (AIP-203). */
export const outputOnlyFields = Object.keys(outputFields) as (keyof typeof outputFields)[]

export const unclearableFields = having(draftFields, 'isUnclearable')

export const formFilterNames = having(formFields, 'filter')

export const publicFormFields = having(formFields, 'isPublic')

export const formOrderFields = having(formFields, 'isSortable')
export type FormOrderField = (typeof formOrderFields)[number]

/** Fields of the draft that lists filter or sort by, all of them texts. */
export const draftSummaryFields: readonly DraftSummaryField[] = having(draftFields, 'filter', 'isSortable')
export type DraftSummaryField = Having<
  typeof draftFields,
  Required<Pick<FieldTraits, 'filter'>> | Required<Pick<FieldTraits, 'isSortable'>>
>

/** A form as clients read it: the current draft with the output-only fields. */
export const Form = z
  .strictObject({ ...draftShape, ...shapeOf(outputFields) })
  .meta({ id: 'Form', description: 'The current draft of a form with its output-only fields.' })
export type Form = z.infer<typeof Form>

interface Context {
  addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void
}

function whenArray() {
  return { when: ({ value }: { value: unknown }) => Array.isArray(value) }
}

function rejectRepeatedKeys(steps: unknown[], context: Context): void {
  reportDuplicates(
    steps.map((step) => (isObject(step) ? step.key : undefined)),
    (index, first) =>
      context.addIssue({
        code: 'custom',
        path: [index, 'key'],
        message: `repeats the key of steps[${first}]`,
      }),
  )
}

function rejectRepeatedLocales(locales: unknown[], context: Context): void {
  reportDuplicates(
    locales.map((locale) => (typeof locale === 'string' ? locale.toLowerCase() : undefined)),
    (index, first) =>
      context.addIssue({ code: 'custom', path: [index], message: `repeats supportedLocales[${first}]` }),
  )
}

/** Calls `report` for each value that an earlier index has already. Ignores `undefined`. */
function reportDuplicates(values: unknown[], report: (index: number, first: number) => void): void {
  const seen = new Map<unknown, number>()
  let reported = 0
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue
    const first = seen.get(value)
    if (first === undefined) seen.set(value, index)
    else report(index, first)
    if (first !== undefined && ++reported === maxReportedIssues) return
  }
}

function requireGuidedModeForPayment(draft: unknown, context: Context): void {
  const { steps, defaultMode } = draft as Partial<FormDraft>
  const isOtherMode = defaultMode !== undefined && defaultMode !== 'guided'
  if (isOtherMode && Array.isArray(steps) && hasPaymentStep(steps)) {
    context.addIssue({
      code: 'custom',
      path: ['defaultMode'],
      message: 'must be "guided" in a form with a payment step',
    })
  }
}

export const hasPaymentStep = (steps: readonly unknown[]): boolean =>
  steps.some((step) => isObject(step) && step.type === 'payment')
