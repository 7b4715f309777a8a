import { type List, type ListQuery, listOf } from '../pages.ts'
import type { EventOrderField, FormEvent } from '../schemas.generated.ts'
import { pathOf } from '../transport/references.ts'
import type { CallOptions, Transport } from '../transport/transport.ts'
import { watchEvents } from './watch-events.ts'

/** A position in the log of an organization: a number from 0, or the `sequence` of an event. 0 is before all events. */
export type Position = number | string

/** A list of events. Fields for `filter`: `type` (with `*`, as in `type = "form.*"`), `form` and `user` (UUIDs), `time`. */
export interface EventsQuery extends ListQuery<EventOrderField> {
  /** Only events with a higher sequence. */
  afterSequence?: Position
}

/** One page of a list of events. It may be empty although more follow. */
export interface EventsPage {
  items: FormEvent[]
  /** `""` on the last page. */
  nextPageToken: string
  /** The sequence of the oldest event that retention has kept; `0000000000000001` in an empty log. */
  oldestSequence: string
  /** The sequence of the newest event; `0000000000000000` in an empty log. */
  lastSequence: string
}

export interface WatchOptions extends CallOptions {
  /** Start after this position. Default: only events that are recorded from now on. */
  afterSequence?: Position
  /** An expression such as `type = "form.published"`; fields as for a list. */
  filter?: string
}

/** The log of an organization: an event for each change of a form, numbered from 1 without gaps. */
export interface Events {
  /** Lists events, by default the oldest first. @throws {FormsApiError} EVENTS_PRUNED if retention deleted some of them. */
  list(organization: string, query?: EventsQuery): List<FormEvent, EventsPage>
  /** @param event the UUID of an event. @throws {FormsApiError} EVENT_NOT_FOUND */
  get(organization: string, event: string, options?: CallOptions): Promise<FormEvent>
  /**
   * Yields events as they are recorded, each once, in the order of `sequence`, until an error occurs or the caller leaves
   * the loop.
   *
   * Reconnects when the connection is lost, and continues after the last event. Without a filter, checks that each
   * sequence is the previous one plus 1, and reads missing events from the list. With a filter, gaps are normal: each
   * connection continues after the last sequence that the stream has sent.
   *
   * The first connection is retried as often as other calls, later ones without limit.
   *
   * @throws {FormsApiError} EVENTS_PRUNED if retention has deleted events that were not read yet: read all forms,
   *   then watch after `metadata.lastSequence`. AFTER_LAST_EVENT if the log ends before the position, because it was
   *   restored from a backup: the same. API_KEY_INVALID, ORGANIZATION_NOT_FOUND and so on once access ends.
   */
  watch(organization: string, options?: WatchOptions): AsyncIterable<FormEvent>
}

export const eventsOf = (transport: Transport): Events => {
  const { send } = transport
  const pathTo = (organization: string, event?: string) =>
    pathOf(['organizations', organization], event === undefined ? ['events'] : ['events', event])

  const list: Events['list'] = (organization, { afterSequence, ...query } = {}) =>
    listOf(send, () => pathTo(organization), 'events', { ...query, afterSequence: numberOf(afterSequence) })

  return {
    list,
    get: async (organization, event, { signal } = {}) =>
      (await send<FormEvent>({ method: 'GET', path: pathTo(organization, event), signal })).body,
    watch: (organization, options = {}) => {
      const listAfter = (afterSequence: number) =>
        list(organization, { afterSequence, signal: options.signal })
      return watchEvents(transport, () => pathTo(organization), listAfter, options)
    },
  }
}

const numberOf = (position: Position | undefined): number | undefined =>
  position === undefined ? undefined : Number(position)
