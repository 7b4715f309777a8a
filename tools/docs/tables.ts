import { httpStatusOf } from '@fms/aip'
import {
  compatibilityRules,
  conditionOperators,
  type FieldTraits,
  FormDraft,
  formFields,
  publishRules,
  type Reason,
  reasons,
  warningReasons,
} from '@fms/contracts'
import { commonMemberRows, memberRows, typeRows } from './step-tables.ts'

type Row = readonly string[]

const code = (text: string | number) => `\`${text}\``

const byName = <T>(entries: Readonly<Record<string, T>>) =>
  Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))

const reasonRows = (seenBy: Reason['seenBy']): Row[] => [
  ['Reason', 'HTTP and status', 'Meaning', 'Details', 'What to do'],
  ...byName<Reason>(reasons)
    .filter(([, reason]) => reason.seenBy === seenBy)
    .map(([name, reason]) => [
      code(name),
      `${reason.http ?? httpStatusOf[reason.status]} ${code(reason.status)}`,
      reason.meaning,
      [...Object.keys(reason.metadata), ...detailsOf(reason)].map(code).join(', '),
      reason.remedy,
    ]),
]

/** The details of an error besides those that every error has. */
const detailsOf = ({ fieldViolations, preconditionViolations, retryAfterSeconds }: Reason): string[] => [
  ...(fieldViolations ? ['BadRequest'] : []),
  ...(preconditionViolations ? ['PreconditionFailure'] : []),
  ...(retryAfterSeconds ? ['RetryInfo'] : []),
]

const ruleRows = (rules: Readonly<Record<string, string>>): Row[] => [
  ['Type', 'Rule'],
  ...byName(rules).map(([type, rule]) => [code(type), rule]),
]

const fieldRows = (): Row[] => {
  const defaults: Record<string, unknown> = FormDraft.parse({})
  return [
    ['Field', 'Default', 'Filter', 'Order', 'Public'],
    ...Object.entries<FieldTraits>(formFields).map(([name, { filter, isSortable, isPublic }]) => [
      code(name),
      name in defaults ? code(JSON.stringify(defaults[name])) : 'read-only',
      filter?.type === 'string' ? 'text' : (filter?.type ?? ''),
      isSortable ? 'yes' : '',
      isPublic ? 'yes' : '',
    ]),
  ]
}

const meaningRows = (head: Row, meanings: Readonly<Record<string, string>>): Row[] => [
  head,
  ...Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]),
]

/** The tables of the documentation that follow from the contracts, by the name in their marker. */
export const tables: Readonly<Record<string, () => Row[]>> = {
  'fields of a form': fieldRows,
  'reasons of the API': () => reasonRows(undefined),
  'reasons for operators': () => reasonRows('operators'),
  'reasons of formctl': () => reasonRows('formctl'),
  'rules of publish': () => ruleRows(publishRules),
  'rules of refuseBreaking': () => ruleRows(compatibilityRules),
  'types of steps': typeRows,
  'members of every step': commonMemberRows,
  'members of some steps': memberRows,
  'operators of conditions': () => meaningRows(['Operator', 'Holds if'], conditionOperators),
  'reasons of warnings': () => meaningRows(['Reason', 'Meaning'], warningReasons),
}
