import type { Background, Step } from './step.ts'

/** The current draft of a form with its output-only fields. */
export interface Form extends ServerOwnedFields {
  /** 1 to 200 characters, not only white space. */
  name: string
  /** Summary of the form's purpose, at most 4,000 characters. */
  description: string
  /** `structured` has explicit steps, `dynamic` is an adaptive conversation. Fixed at creation. */
  type: FormType
  /** `guided` in a form with a payment step. */
  defaultMode: FormMode
  /** Start screen, questions and end screens, in order. */
  steps: Step[]
  /** Media assets available in the form. */
  backgrounds: Background[]
  /** Factual reference data for the AI, one fact per item. */
  context: string[]
  /** Conversational tone, such as `professional` or `casual`. */
  tone: string
  /** Maximum number of AI follow-up questions per response. */
  maxFollowUpQuestions: number
  /** AI Handoff links on the published start screen; a change takes effect without a publish. */
  aiHandoff: Toggle
  /** Whether respondents may reply by voice. */
  voice: Toggle
  branding: Branding
  i18n: I18n
  leadScoring: LeadScoring
  marketplace: Marketplace
  theme: Theme
}

/** Output-only fields (AIP-203): ignored in requests. */
export interface ServerOwnedFields {
  /** RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** Time of the last change of the draft. Each change increases it. RFC 3339, UTC, with milliseconds. */
  updateTime: string
  /** Whether the form has a live revision. */
  live: boolean
  /** `organizations/{organization_id}/forms/{form_id}` */
  path: string
  /** 10 letters and digits, unique in the service; `""` in a dry create. */
  publicId: string
  /** URL of the form for respondents; `""` in a dry create. */
  publicUrl: string
  /** Number of replies received. */
  replyCount: number
}

export type FormType = 'structured' | 'dynamic'

export type FormMode = 'guided' | 'conversational' | 'voice'

/** A feature that is on or off. */
export interface Toggle {
  enabled: boolean
}

/** The maker's own logo. */
export interface Branding extends Toggle {
  /** `""` or an absolute http or https URL. */
  logoLinkUrl: string
  /** `""` or an absolute http or https URL. */
  logoUrl: string
}

/** The descriptions of high, medium and low leads. */
export interface LeadScoring extends Toggle {
  high: string
  medium: string
  low: string
}

/** The languages of a form. */
export interface I18n {
  /** A BCP 47 language tag such as `en` or `pt-BR`. */
  sourceLocale: string
  /** No duplicates, letter case ignored. */
  supportedLocales: string[]
  /** By BCP 47 language tag. */
  translations: Record<string, TranslationSet>
}

/** All texts of a form in one language. */
export interface TranslationSet {
  name?: TranslatedValue
  description?: TranslatedValue
  /** By step key. */
  steps: Record<string, TranslatedStep>
}

/** The texts of a step in one language. */
export interface TranslatedStep {
  title?: TranslatedValue
  description?: TranslatedValue
  buttonText?: TranslatedValue
  options: TranslatedValue[]
}

/** A text in another language. */
export interface TranslatedValue {
  override: boolean
  sourceHash: string
  /** Whether the source text has changed since the translation. */
  stale: boolean
  value: string
}

/** The form's entry in a marketplace. */
export interface Marketplace extends Toggle {
  /** `""` or an absolute http or https URL. */
  bookingUrl: string
  category: string
  description: string
  industry: string
  languages: string[]
  location: Location
  name: string
  services: MarketplaceService[]
}

export interface Location {
  address: string
  area: string
  city: string
}

export interface MarketplaceService {
  category: string
  description: string
  duration: string
  name: string
  priceRange?: PriceRange
}

export interface PriceRange {
  currency: string
  /** 0 or more. A form with a `min` above `max` cannot be published. */
  min: number
  /** 0 or more. */
  max: number
}

/** Colours are any text of at most 64 characters; the other texts have 1 to 64 characters. */
export interface Theme {
  backgroundColor: string
  foregroundColor: string
  primaryColor: string
  buttonTextColor: string
  /** 0 or more. */
  buttonRadiusPx: number
  /** Such as `regular`. */
  buttonSize: string
  /** Such as `sans`. */
  fontFamily: string
  /** Such as `typing`. */
  textAnimation: string
  /** Such as `regular`. */
  textSize: string
}
