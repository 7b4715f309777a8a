import { type CheckedFilter, evaluateFilter, type FilterFields, type FilterRow } from '@fms/aip'
import type { FormEvent } from '@fms/contracts'

/** Fields that a filter of events can name (AIP-160). */
export const eventFilterFields: FilterFields = {
  fields: {
    type: { type: 'pattern' },
    form: { type: 'uuid' },
    user: { type: 'uuid' },
    time: { type: 'time' },
  },
}

/** Whether an event matches a filter. Without a filter every event does. */
export const matchesEvent = (filter: CheckedFilter | undefined, event: FormEvent): boolean =>
  filter === undefined || evaluateFilter(filter, rowOf(event))

/** The values of {@link eventFilterFields}. A change by an operator has no user. */
const rowOf = ({ type, subject, time, data: { actor } }: FormEvent): FilterRow => ({
  type,
  form: lastSegmentOf(subject),
  user: 'user' in actor ? lastSegmentOf(actor.user) : '',
  time: Date.parse(time),
})

const lastSegmentOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The only form whose events can match the filter, for a scan of these alone; undefined if there is none. */
export const requiredForm = (filter: CheckedFilter | undefined): string | undefined => {
  if (filter?.kind === 'and') return filter.operands.map(requiredForm).find((form) => form !== undefined)
  return filter?.kind === 'compare' && filter.field === 'form' ? filter.value : undefined
}
