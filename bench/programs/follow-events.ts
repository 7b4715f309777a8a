import { randomUUID } from 'node:crypto'
import type { RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { eventsStream, type FormEvent } from '@fms/contracts'
import { DeliverPolicy, jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'
import { Pool } from 'undici'
import type { EventsLoad } from '../load/load-generator.ts'
import { headersOf, requestsOf } from '../load/requests.ts'

/** How long the last event may take to reach the stream, in milliseconds. */
const lastEventMs = 30_000

/**
 * Patches forms of one organization at a steady rate, and records for each change how many microseconds after its
 * response the event reaches a reader of the stream.
 *
 * @returns the number of failed changes, and of events that did not come in time.
 */
export const followEvents = async (
  { target, changesPerSecond, connections, seconds }: EventsLoad & { seconds: number },
  nats: NatsConnection,
  times: RecordableHistogram,
): Promise<number> => {
  const lags = measureLags(times)
  const consumer = await jetstream(nats).consumers.get(eventsStream.name, {
    filter_subjects: [`events.${target.organizationId}.>`],
    deliver_policy: DeliverPolicy.New,
  })
  const messages = await consumer.consume({ callback: (message) => lags.arrived(message.json<FormEvent>()) })
  const pool = new Pool(new URL(target.baseUrl).origin, { connections })
  const next = await requestsOf('patch', target)
  let failures = 0
  const patch = async (number: number) => {
    const requestId = randomUUID()
    const { path, method, body } = next()
    const apiKey = target.apiKeys[number % target.apiKeys.length]!
    const headers = { ...headersOf(apiKey, { path, method, body: body! }), 'x-request-id': requestId }
    const response = await pool.request({ path, method, body: body!, headers })
    if (response.statusCode === 200) lags.acknowledged(requestId)
    else failures++
    await response.body.dump()
  }
  await atRate(changesPerSecond, seconds, patch)
  const deadline = performance.now() + lastEventMs
  while (lags.waiting() > 0 && performance.now() < deadline) await delay(20)
  await messages.close()
  await pool.close()
  return failures + lags.waiting()
}

/** Starts `perSecond` tasks a second, whether or not the earlier ones have ended, and waits for all of them. */
const atRate = async (perSecond: number, seconds: number, task: (number: number) => Promise<void>) => {
  const startedAt = performance.now()
  const tasks: Promise<void>[] = []
  while (tasks.length < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, ((performance.now() - startedAt) / 1000) * perSecond)
    while (tasks.length < due) tasks.push(task(tasks.length))
    await delay(1)
  }
  await Promise.all(tasks)
}

/** Matches the responses and the events of changes, which may come in either order. */
const measureLags = (times: RecordableHistogram) => {
  const acknowledgedAt = new Map<string, number>()
  const arrivedAt = new Map<string, number>()
  const record = (ms: number) => times.record(Math.max(1, Math.round(ms * 1000)))
  return {
    acknowledged(requestId: string) {
      if (arrivedAt.delete(requestId)) record(0)
      else acknowledgedAt.set(requestId, performance.now())
    },
    arrived({ data: { httpRequestId } }: FormEvent) {
      const at = acknowledgedAt.get(httpRequestId)
      if (at === undefined) arrivedAt.set(httpRequestId, performance.now())
      else if (acknowledgedAt.delete(httpRequestId)) record(performance.now() - at)
    },
    /** The number of changes whose event has not arrived. */
    waiting: () => acknowledgedAt.size,
  }
}
