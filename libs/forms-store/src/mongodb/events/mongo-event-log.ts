import type { FormEvent } from '@fms/contracts'
import type {
  EventBacklog,
  EventLog,
  EventLogRange,
  EventsQuery,
  ImportedEvent,
  UnstreamedLog,
} from '../../events/event-log.ts'
import type { EventLogDocument, FormsCollections } from '../documents.ts'
import { pruneRequests } from '../request-ids/prune-requests.ts'
import { eventKey, highestSequence } from './append-events.ts'
import { collectEvents } from './collect-events.ts'
import { CollectionTasks } from './collection-tasks.ts'
import { importEvent, toFormEvent } from './import-event.ts'
import { pruneEvents } from './prune-events.ts'

/** The number of logs that `logs` reads at once, and that `backlog` reads at most. */
const logsPerRead = 500

/** How long a call of `collect` waits for slow organizations, in milliseconds. */
const collectWaitMs = 250

/** Maximum number of forms and deleted forms whose pending events `backlog` counts. */
const maxCounted = 10_000

/** Maximum number of logs of which `backlog` reads the oldest unstreamed event. */
const maxOldest = 20

/**
 * The logs of events on MongoDB: docs/decisions/0031-record-events-with-changes.md. Reads have read concern `majority`, so
 * that no failover replaces an event that a client has read.
 */
export class MongoEventLog implements EventLog {
  readonly #collections: FormsCollections
  readonly #tasks = new CollectionTasks({ waitMs: collectWaitMs })

  constructor(collections: FormsCollections) {
    this.#collections = collections
  }

  /** Indexes: events_by_sequence, events_by_form. */
  async read(query: EventsQuery): Promise<FormEvent[]> {
    const { organizationId, formId, from = 1, to = Number.MAX_SAFE_INTEGER, descending, limit } = query
    if (limit <= 0) return []
    const condition = {
      organizationId,
      ...(formId !== undefined && { formId }),
      sequence: { $gte: from, $lte: to },
    }
    const sort = { sequence: descending ? -1 : 1 } as const
    return (await this.#collections.events.findDurable(condition, { sort, limit })).map(toFormEvent)
  }

  /** Index: that of `_id`. */
  async get(organizationId: string, eventId: string): Promise<FormEvent | undefined> {
    const query = { organizationId, _id: eventKey(organizationId, eventId.toLowerCase()) }
    const [found] = await this.#collections.events.findDurable(query, { limit: 1 })
    return found && toFormEvent(found)
  }

  /** Indexes: that of `_id`, events_by_sequence. */
  async range(organizationId: string): Promise<EventLogRange> {
    const [log] = await this.#collections.eventLogs.findDurable({ _id: organizationId, organizationId })
    // The first events of an organization are in the log before its document.
    const { oldestSequence, recordedSequence } = log ?? { oldestSequence: 1, recordedSequence: 0 }
    const lastSequence = await highestSequence(this.#collections, organizationId, recordedSequence)
    return lastSequence < oldestSequence
      ? { oldestSequence: 0, lastSequence: 0 }
      : { oldestSequence, lastSequence }
  }

  collect(limit: number): Promise<number> {
    return collectEvents(this.#collections, limit, Date.now(), this.#tasks)
  }

  /** Index: eventLogs_by_isBehind. */
  async findUnstreamed(limit: number): Promise<UnstreamedLog[]> {
    const { eventLogs } = this.#collections
    const found = await eventLogs.findDurable({ isBehind: true }, { limit })
    const isStreamed = (log: EventLogDocument) => log.streamedSequence >= log.recordedSequence
    await eventLogs.setEach(found.filter(isStreamed).map(toCaughtUp))
    return found.filter((log) => !isStreamed(log)).map(toUnstreamedLog)
  }

  /** Index: that of `_id`. */
  async streamedSequence(organizationId: string): Promise<number> {
    const log = await this.#collections.eventLogs.findOne({ _id: organizationId, organizationId })
    return log?.streamedSequence ?? 0
  }

  /** Index: that of `_id`. */
  async markStreamed(organizationId: string, sequence: number): Promise<void> {
    const { eventLogs } = this.#collections
    const earlier = { _id: organizationId, organizationId, streamedSequence: { $lt: sequence } }
    const isLast = { ...earlier, recordedSequence: { $lte: sequence } }
    const fields = { streamedSequence: sequence, isPrunable: true }
    if (await eventLogs.set(isLast, { ...fields, isBehind: false })) return
    await eventLogs.set(earlier, fields)
  }

  /** Deletes the memory of requests first, and no event while there may be more of it. */
  async prune(before: Date, limit: number): Promise<number> {
    const requests = await pruneRequests(this.#collections, before, limit)
    return requests === limit ? limit : pruneEvents(this.#collections, before, limit)
  }

  /** Indexes: forms_by_pendingTime, deletions_by_collectTime, eventLogs_by_isBehind. */
  async backlog(): Promise<EventBacklog> {
    const [pending, unstreamed] = await Promise.all([this.#pending(), this.#unstreamed()])
    const times = [...pending.times, ...unstreamed.times]
    return {
      pending: pending.count,
      unstreamed: unstreamed.count,
      ...(times.length > 0 && { oldestTime: new Date(Math.min(...times)) }),
    }
  }

  /** Events of forms, and of the deletes that are known to have happened. The engine reads indexes alone. */
  async #pending(): Promise<{ count: number; times: number[] }> {
    const { forms, deletions } = this.#collections
    const arePending = { pendingTime: { $gt: 0 } }
    const areDeleted = { collectTime: { $gt: 0 }, isConfirmed: true }
    const oldest = { sort: { pendingTime: 1 }, limit: 1, fields: ['pendingTime'] } as const
    const [ofForms, ofDeletions, first, notes] = await Promise.all([
      forms.sum(arePending, 'pendingCount', { limit: maxCounted }),
      deletions.sum(areDeleted, 'pendingCount', { limit: maxCounted }),
      Array.fromAsync(forms.findFields(arePending, oldest)),
      Array.fromAsync(deletions.findFields(areDeleted, { limit: maxOldest, fields: ['pendingTime'] })),
    ])
    return {
      count: ofForms.sum + ofDeletions.sum,
      times: [...first, ...notes].map(({ pendingTime }) => pendingTime!),
    }
  }

  async #unstreamed(): Promise<{ count: number; times: number[] }> {
    const { events, eventLogs } = this.#collections
    const logs = await Array.fromAsync(eventLogs.find({ isBehind: true }, { limit: logsPerRead }))
    const behind = logs.filter((log) => log.streamedSequence < log.recordedSequence)
    const firsts = await Promise.all(
      behind
        .slice(0, maxOldest)
        .map(({ organizationId, streamedSequence }) =>
          events.findOne({ organizationId, sequence: streamedSequence + 1 }, ['time']),
        ),
    )
    return {
      count: behind.reduce((sum, log) => sum + log.recordedSequence - log.streamedSequence, 0),
      times: firsts.flatMap((first) => first?.time ?? []),
    }
  }

  /** Index: that of `_id`. */
  async *logs(): AsyncGenerator<UnstreamedLog> {
    for (let after = ''; ; ) {
      const options = { sort: { _id: 1 }, limit: logsPerRead } as const
      const found = this.#collections.eventLogs.find({ _id: { $gt: after } }, options)
      const logs = (await Array.fromAsync(found)).map(toUnstreamedLog)
      yield* logs.filter(({ lastSequence }) => lastSequence > 0)
      if (logs.length < logsPerRead) return
      after = logs.at(-1)!.organizationId
    }
  }

  importEvent(event: FormEvent): Promise<ImportedEvent> {
    return importEvent(this.#collections, event)
  }
}

/** The change that marks a log as complete in the stream, unless a collection has appended to it meanwhile. */
const toCaughtUp = ({ _id, organizationId, recordedSequence }: EventLogDocument) => ({
  query: { _id, organizationId, recordedSequence },
  fields: { isBehind: false },
})

const toUnstreamedLog = ({
  organizationId,
  streamedSequence,
  recordedSequence,
}: EventLogDocument): UnstreamedLog => ({
  organizationId,
  streamedSequence,
  lastSequence: recordedSequence,
})
