/** A media asset in the background of a screen. */
export interface Background {
  /** 0 (clear) to 1 (opaque). */
  overlayOpacity: number
  /** Such as `left-half`. */
  position: string
  /** Such as `image`. */
  type: string
  /** `""` or an absolute http or https URL. */
  url: string
}

/** A {@link Background} to write: `overlayOpacity` is 0 and `position` is `left-half` by default. */
export interface BackgroundInput {
  overlayOpacity?: number
  position?: string
  type: string
  url: string
}

/** A comparison with the answer to an earlier step. */
export interface Condition {
  negate: boolean
  /** Such as `equals`. */
  operator: string
  stepKey: string
  value: string
}

/** A {@link Condition} to write: `negate` is false and `value` is `""` by default. */
export interface ConditionInput {
  negate?: boolean
  operator: string
  stepKey: string
  value?: string
}

/** A jump to another step if one of the groups holds. */
export interface Branch {
  /** A group holds if all of its conditions hold. */
  groups: Condition[][]
  targetStepKey: string
}

/** A {@link Branch} to write: `groups` is `[]` by default. */
export interface BranchInput {
  groups?: ConditionInput[][]
  targetStepKey: string
}

/** The first screen of a form. */
export interface StartStep {
  type: 'start'
  /** 1 to 64 characters of `[A-Za-z0-9_-]`, unique in the form. */
  key: string
  title: string
  description: string
  buttonText: string
  /** `""` or an absolute http or https URL. */
  logoUrl: string
  /** `""` or an absolute http or https URL. */
  redirectUrl: string
  background?: Background
  branches: Branch[]
}

/** A {@link StartStep} to write: a text is `""` and `branches` is `[]` by default. */
export interface StartStepInput {
  type: 'start'
  key: string
  title?: string
  description?: string
  buttonText?: string
  logoUrl?: string
  redirectUrl?: string
  background?: BackgroundInput
  branches?: BranchInput[]
}

/** An end screen (`type: "end"`), a payment (`type: "payment"`) or any other question. */
export interface OpenStep {
  /** 1 to 64 characters, any but `start`. */
  type: string
  /** 1 to 64 characters of `[A-Za-z0-9_-]`, unique in the form. */
  key: string
  title?: string
  description?: string
  buttonText?: string
  /** `""` or an absolute http or https URL. */
  logoUrl?: string
  /** `""` or an absolute http or https URL. */
  redirectUrl?: string
  background?: Background
  branches?: Branch[]
  /** Unknown members are stored and returned as sent. */
  [member: string]: unknown
}

/** An {@link OpenStep} to write. */
export interface OpenStepInput {
  type: string
  key: string
  title?: string
  description?: string
  buttonText?: string
  logoUrl?: string
  redirectUrl?: string
  background?: BackgroundInput
  branches?: BranchInput[]
  [member: string]: unknown
}

/** A screen of a form; `type` names the variant. */
export type Step = StartStep | OpenStep

/** A {@link Step} to write. */
export type StepInput = StartStepInput | OpenStepInput
