import type { Outcome } from '../../cli/outcome.ts'
import { shortTime } from '../../cli/table.ts'

interface ListedForm {
  id: string
  publicId: string
  name: string
  deleteTime: Date
  purgeTime: Date
  /** Empty for an operator. */
  deleter: string
}

/** The outcome of `deleted list`. */
export const listOutcome = (deletedForms: ListedForm[]): Outcome => ({
  json: { deletedForms },
  text: 'There are no deleted forms.',
  table: {
    columns: ['id', 'public id', 'name', 'deleted', 'by', 'purged after'],
    rows: deletedForms.map(({ id, publicId, name, deleteTime, deleter, purgeTime }) => [
      id,
      publicId,
      name,
      shortTime(deleteTime),
      deleter || 'an operator',
      shortTime(purgeTime),
    ]),
  },
})
