import type { Form } from './form.ts'

/** The members of a form that anybody may read while it is live. No other ever leaves the service without a key. */
export const publicFormMembers = [
  'aiHandoff',
  'backgrounds',
  'branding',
  'defaultMode',
  'description',
  'i18n',
  'name',
  'publicId',
  'steps',
  'theme',
  'type',
  'voice',
] as const satisfies readonly (keyof Form)[]
