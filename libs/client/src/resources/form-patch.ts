import type {
  Branding,
  FormMode,
  FormType,
  I18n,
  LeadScoring,
  Location,
  Marketplace,
  MarketplaceService,
  PriceRange,
  ServerOwnedFields,
  Theme,
  Toggle,
  TranslatedValue,
} from './form.ts'
import type { BackgroundInput, StepInput } from './step.ts'

/**
 * A JSON Merge Patch (RFC 7396) on a draft: a field that is left out stays as it is, objects merge, arrays are
 * replaced, `null` resets a field to its default. Output-only fields are ignored, so a form that was read can be sent
 * back.
 */
export interface FormPatch extends Partial<ServerOwnedFields> {
  /** 1 to 200 characters, not only white space; `Untitled form` by default. */
  name?: string
  /** At most 4,000 characters; `""` by default. */
  description?: string | null
  /** `structured` by default. A patch cannot change it. */
  type?: FormType
  /** `guided` by default, and the only one in a form with a payment step. */
  defaultMode?: FormMode
  /** At most 1,000; `[]` by default. */
  steps?: StepInput[] | null
  /** At most 100; `[]` by default. */
  backgrounds?: BackgroundInput[] | null
  /** At most 1,000; `[]` by default. */
  context?: string[] | null
  /** At most 200 characters; `professional` by default. */
  tone?: string | null
  /** An integer from 0; 3 by default. */
  maxFollowUpQuestions?: number | null
  aiHandoff?: Merge<Toggle> | null
  voice?: Merge<Toggle> | null
  branding?: Merge<Branding> | null
  i18n?: I18nPatch | null
  leadScoring?: Merge<LeadScoring> | null
  marketplace?: MarketplacePatch | null
  theme?: Merge<Theme> | null
}

/** A new form: an omitted or `null` field takes its default. */
export type FormInput = FormPatch

/** A patch of `i18n`; `sourceLocale` is `en` and `supportedLocales` is `["en"]` by default. */
export interface I18nPatch extends Merge<Omit<I18n, 'translations'>> {
  /** By BCP 47 language tag; `null` removes a language. */
  translations?: Partial<Record<string, TranslationSetPatch | null>> | null
}

/** A patch of the texts in one language; `null` removes a text. */
export interface TranslationSetPatch {
  name?: Merge<TranslatedValue> | null
  description?: Merge<TranslatedValue> | null
  /** By step key; `null` removes the texts of a step. */
  steps?: Partial<Record<string, TranslatedStepPatch | null>> | null
}

/** A patch of the texts of a step in one language; `null` removes a text. */
export interface TranslatedStepPatch {
  title?: Merge<TranslatedValue> | null
  description?: Merge<TranslatedValue> | null
  buttonText?: Merge<TranslatedValue> | null
  options?: Partial<TranslatedValue>[] | null
}

/** A patch of `marketplace`. */
export interface MarketplacePatch extends Merge<Omit<Marketplace, 'location' | 'services'>> {
  location?: Merge<Location> | null
  services?: MarketplaceServiceInput[] | null
}

/** A service of a marketplace entry to write: a text is `""` by default. */
export interface MarketplaceServiceInput extends Partial<Omit<MarketplaceService, 'priceRange'>> {
  priceRange?: Partial<PriceRange>
}

/** A patch of an object without nested objects: an omitted field stays unchanged, `null` resets it to its default. */
export type Merge<T> = { [K in keyof T]?: T[K] | null }
