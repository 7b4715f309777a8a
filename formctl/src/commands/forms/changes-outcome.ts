import type { FormChange, FormChanges } from '@fms/contracts'
import type { Outcome } from '../../cli/outcome.ts'
import { withoutControlCharacters } from '../../cli/table.ts'

/** Characters of a value in the table. */
const maxValueLength = 40

/** The outcome of `forms changes`. */
export const changesOutcome = (comparison: FormChanges): Outcome => ({
  json: comparison,
  text: `There are no changes from ${comparison.from} to ${comparison.to}.`,
  table: {
    columns: ['kind', 'field', 'change', 'breaking'],
    rows: comparison.changes.map((change) => [
      change.kind,
      change.field,
      valuesOf(change),
      change.breaking && `! ${change.breaking}`,
    ]),
  },
  ...footerOf(comparison),
})

const valuesOf = (change: FormChange): string =>
  [change.before, change.after]
    .filter((value) => value !== undefined)
    .map(shortened)
    .join(' → ')

const shortened = (value: unknown): string => {
  const characters = [...JSON.stringify(value)]
  if (characters.length <= maxValueLength) return characters.join('')
  return `${characters.slice(0, maxValueLength - 1).join('')}…`
}

const footerOf = ({ breakingCount, publishable, violations = [] }: FormChanges): Pick<Outcome, 'footer'> => {
  const lines = [
    breakingCount > 0 && `Breaking changes, which orphan answers already given: ${breakingCount}.`,
    publishable === true && 'The draft can be published.',
    publishable === false && 'The draft cannot be published:',
    ...violations.map(
      ({ subject, description }) => `  ${withoutControlCharacters(`${subject} ${description}`)}`,
    ),
  ].filter((line) => line !== false)
  return lines.length > 0 ? { footer: lines.join('\n') } : {}
}
