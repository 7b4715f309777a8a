import type { FormDocument, FormsCollections, PendingEvent } from '../documents.ts'
import { formIdOf, formKey, incarnationOf } from '../form-queries.ts'
import type { IncarnationEvent } from './append-events.ts'
import { pendingFields } from './record-event.ts'
import type { ResolvedDeletion } from './resolve-deletions.ts'

/** A form with pending events, and these as they are to be in the log. */
export interface TimedForm {
  form: FormDocument
  events: IncarnationEvent[]
}

/**
 * Makes the first events of an incarnation later than those of earlier incarnations, even if a clock went back. Only the
 * log has the times of earlier events. Usually no time has to change, and this reads the log at most once.
 *
 * @param resolved those of earlier incarnations come first.
 * @returns the deletions and the forms with their events, without forms that have changed meanwhile.
 */
export const withIncreasingTimes = async (
  collections: FormsCollections,
  organizationId: string,
  resolved: readonly ResolvedDeletion[],
  forms: readonly FormDocument[],
): Promise<{ deletions: ResolvedDeletion[]; timed: TimedForm[] }> => {
  const firsts = [
    ...resolved.filter(({ events }) => events[0]?.number === 1).map(({ formId }) => formId),
    ...forms.filter(({ pendingEvents }) => pendingEvents![0]!.number === 1).map(formIdOf),
  ]
  const times = await lastTimes(collections, organizationId, firsts)
  const deletions = resolved.map((each) => {
    const events = laterThan(each.events, times.get(each.formId))
    const last = events.at(-1)
    if (last && firsts.includes(each.formId)) times.set(each.formId, last.time)
    return { ...each, events }
  })
  const timed: TimedForm[] = []
  for (const form of forms) {
    const pendingEvents = laterThan(form.pendingEvents!, times.get(formIdOf(form)))
    const isSame = pendingEvents.every((event, index) => event === form.pendingEvents![index])
    // The form's next events have to be later, too.
    if (!isSame && !(await replaceEvents(collections, form, pendingEvents))) continue
    const events = pendingEvents.map((event) => ({ ...incarnationOf(form), ...event }))
    timed.push({ form: { ...form, pendingEvents }, events })
  }
  return { deletions, timed }
}

/** The times of the last events of those forms that have events in the log. Index: events_by_form. */
const lastTimes = async (
  { events }: FormsCollections,
  organizationId: string,
  formIds: readonly string[],
): Promise<Map<string, number>> => {
  const times = new Map<string, number>()
  if (formIds.length === 0) return times
  const any = { organizationId, formId: { $in: [...new Set(formIds)] } }
  if ((await events.findDurable(any, { limit: 1, fields: ['_id'] })).length === 0) return times
  const newest = { sort: { sequence: -1 }, limit: 1, fields: ['time'] } as const
  for (const formId of any.formId.$in) {
    const [last] = await events.findDurable({ organizationId, formId }, newest)
    if (last) times.set(formId, last.time)
  }
  return times
}

/** Moves events to later times where needed. Events that are late enough stay the same objects. */
const laterThan = <T extends PendingEvent>(events: readonly T[], time: number | undefined): T[] => {
  let last = time ?? Number.NEGATIVE_INFINITY
  return events.map((event) => {
    const isLater = event.time > last
    last = isLater ? event.time : last + 1
    if (isLater) return event
    const body = { ...JSON.parse(event.event), time: new Date(last).toISOString() }
    return { ...event, time: last, event: JSON.stringify(body) }
  })
}

/** @returns whether the form had not changed. */
const replaceEvents = (
  { forms }: FormsCollections,
  form: FormDocument,
  pendingEvents: PendingEvent[],
): Promise<boolean> =>
  forms.set(
    { ...formKey(form), eventNumber: form.eventNumber, pendingCount: { $gt: 0 } },
    { ...pendingFields(pendingEvents), eventTime: pendingEvents.at(-1)!.time },
  )
