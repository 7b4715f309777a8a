import { Form } from './form.ts'
import { Revision } from './revision.ts'

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

/** A live form as respondents read it: members of its live revision, and the number of that. */
export const PublicForm = Form.pick(
  Object.fromEntries(publicFormMembers.map((name) => [name, true])) as {
    [Name in (typeof publicFormMembers)[number]]: true
  },
).extend({ number: Revision.shape.number })
