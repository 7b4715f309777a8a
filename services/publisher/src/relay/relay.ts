import { ApiError } from '@fms/aip'
import { EventsRecorded, relayQueue } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { repeat } from '@fms/scheduling/repeat'
import { followConnection } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import type { NatsConnection } from 'nats'
import type { EventsConfig } from '../config.ts'
import { countedLog } from '../counted-log.ts'
import { ensureEventsStream } from '../streams.ts'
import { createEventPublisher } from './publish-events.ts'
import { createStreaming } from './stream-events.ts'

/** How long the relay gathers events, in milliseconds: each move takes several requests to the store. */
const debounceMs = 75

/** Interval between two runs of retention, in milliseconds. */
const pruneMs = 60_000

/** Interval between two log lines with the same text, in milliseconds. */
const failurePauseMs = 60_000

/** Events that retention deletes in one step. */
const pruneLimit = 100

const dayMs = 24 * 60 * 60 * 1000

/** Maximum number of organizations whose events one call numbers. */
const sequenceLimit = 100

export interface RelayDeps {
  events: EventLog
  nats: NatsConnection
  logger: FastifyBaseLogger
  config: EventsConfig
  now: () => Date
  /** Interval at which the relay looks for events without an announcement, in milliseconds. Default: 1 s. */
  pollMs?: number
}

/** Starts the relay: numbers events, publishes logs to the stream EVENTS (which alone needs NATS), and prunes. */
export const startRelay = ({ events, nats, logger, config, now, pollMs = 1_000 }: RelayDeps) => {
  /** Logs failures, except for those of the store, which measureStore logs. */
  const onError = (text: string) => {
    const log = countedLog(failurePauseMs, (failures, err) => logger.error({ err, failures }, text))
    return (error: unknown) => {
      if (!(error instanceof ApiError && error.status === 'UNAVAILABLE')) log(error)
    }
  }
  const connection = followConnection(nats, (isConnected) => isConnected && wakeStreaming())
  let stream: { allowsBatches: boolean } | undefined

  const onStreamingError = onError('events could not be streamed: retrying')
  const streaming = createStreaming({
    events,
    publisher: createEventPublisher(nats),
    allowsBatches: () => stream?.allowsBatches ?? false,
    onFree: () => wakeStreaming(),
    onError(error) {
      // The stream may be missing: the server may have lost its data.
      stream = undefined
      onStreamingError(error)
    },
  })
  const startStreaming = async () => {
    if (!connection.isConnected) return
    stream ??= { allowsBatches: await ensureEventsStream(nats, config) }
    await streaming.startLogs()
  }
  const sequence = async (signal: AbortSignal) => {
    let sequenced: number
    do {
      sequenced = await events.sequence(sequenceLimit)
      wakeStreaming()
    } while (sequenced > 0 && !signal.aborted)
  }
  const prune = async (signal: AbortSignal) => {
    const before = new Date(now().getTime() - config.EVENTS_RETENTION_DAYS * dayMs)
    const { MAX_EVENTS_PER_ORGANIZATION: maxEvents } = config
    while (!signal.aborted && (await events.prune(before, pruneLimit, maxEvents)) > 0);
  }

  const streamer = repeat(pollMs, startStreaming, onError('events cannot be streamed: retrying'))
  const sequencer = repeat(pollMs, sequence, onError('events cannot be numbered: retrying'), debounceMs)
  const pruner = repeat(pruneMs, prune, onError('old events cannot be pruned: retrying'))
  const wakeStreaming = () => streamer.wake()
  const wake = () => sequencer.wake()
  const onDenied = onError('NATS denies the subscription to events.recorded: looking every second')
  const announcements = nats.subscribe(EventsRecorded.subject, {
    queue: relayQueue,
    callback: (error) => (error ? onDenied(error) : wake()),
  })

  return {
    /** Moves events that were just recorded. Returns immediately. */
    wake,
    /** Stops after the steps that have begun. Other publishers, or the next start, do the rest. */
    async stop(): Promise<void> {
      announcements.unsubscribe()
      await Promise.all([sequencer.stop(), streamer.stop(), pruner.stop()])
      await streaming.stop()
    },
  }
}
