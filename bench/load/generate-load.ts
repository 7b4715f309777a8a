/** Program: runs each load that its parent process sends, and sends back the result. */
import { randomUUID } from 'node:crypto'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { eventsStream, type FormEvent } from '@fms/contracts'
import { natsConnectionOptions } from '@fms/service-kit/settings'
import { DeliverPolicy, jetstream } from '@nats-io/jetstream'
import autocannon from 'autocannon'
import { connect, createInbox, headers, type NatsConnection } from 'nats'
import { Pool } from 'undici'
import {
  type Amount,
  type EventsLoad,
  type HttpLoad,
  headersOf,
  type Load,
  type LoadResult,
  type RoundTripLoad,
  requestsOf,
  statusOf,
} from './requests.ts'

type WithAmount<T> = T & Amount

const timeoutSeconds = 20
/** Interval at which autocannon checks whether the duration is over. */
const sampleMs = 50

process.on('message', async (load: WithAmount<Load>) => {
  try {
    process.send!(await run(load))
  } catch (error) {
    process.send!({ error: (error as Error).stack })
  }
})
process.once('disconnect', () => process.exit(0))

const run = (load: WithAmount<Load>): Promise<LoadResult> => {
  switch (load.kind) {
    case 'http':
      return sendRequests(load)
    case 'round trips':
      return sendRoundTrips(load)
    case 'events':
      return measureEvents(load)
  }
}

const measureEvents = async (load: WithAmount<EventsLoad>): Promise<LoadResult> => {
  const times = createHistogram()
  const startedAt = performance.now()
  const failures = await followEvents(load, await natsOf(load.natsUrl), times)
  return resultOf(times, startedAt, failures)
}

/** How long the last event may take to reach the stream, in milliseconds. */
const lastEventMs = 30_000

/**
 * Patches forms of one organization at a steady rate, and records for each change how many microseconds after its
 * response the event reaches a reader of the stream.
 *
 * @returns the number of failed changes, and of events that did not come in time.
 */
const followEvents = async (
  { target, changesPerSecond, connections, ...amount }: WithAmount<EventsLoad>,
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
  const total = 'amount' in amount ? amount.amount : changesPerSecond * amount.seconds
  await atRate(changesPerSecond, total, patch)
  const deadline = performance.now() + lastEventMs
  while (lags.waiting() > 0 && performance.now() < deadline) await delay(20)
  await messages.close()
  await pool.close()
  return failures + lags.waiting()
}

/** Starts `perSecond` tasks a second, whether or not the earlier ones have ended, and waits for all of them. */
const atRate = async (perSecond: number, total: number, task: (number: number) => Promise<void>) => {
  const startedAt = performance.now()
  const tasks: Promise<void>[] = []
  while (tasks.length < total) {
    const due = Math.min(total, ((performance.now() - startedAt) / 1000) * perSecond)
    while (tasks.length < due) tasks.push(task(tasks.length))
    await delay(1)
  }
  await Promise.all(tasks)
}

/** Matches the responses and the events of changes, which may come in either order. */
const measureLags = (times: RecordableHistogram) => {
  const acknowledgedAt = new Map<string, number>()
  const arrivedAt = new Map<string, number>()
  return {
    acknowledged(requestId: string) {
      if (arrivedAt.delete(requestId)) record(times, 0)
      else acknowledgedAt.set(requestId, performance.now())
    },
    arrived({ data: { httpRequestId } }: FormEvent) {
      const at = acknowledgedAt.get(httpRequestId)
      if (at === undefined) arrivedAt.set(httpRequestId, performance.now())
      else if (acknowledgedAt.delete(httpRequestId)) record(times, performance.now() - at)
    },
    /** The number of changes whose event has not arrived. */
    waiting: () => acknowledgedAt.size,
  }
}

const sendRequests = async (load: WithAmount<HttpLoad>): Promise<LoadResult> => {
  const next = await requestsOf(load.operation, load.target)
  const { apiKeys } = load.target
  let clients = 0
  const times = createHistogram()
  const startedAt = performance.now()
  const options: autocannon.Options = {
    url: load.target.baseUrl,
    connections: load.connections,
    ...('amount' in load ? { amount: Math.max(load.amount, load.connections) } : { duration: load.seconds }),
    sampleInt: sampleMs,
    timeout: timeoutSeconds,
    ...(load.requestsPerSecond && { overallRate: load.requestsPerSecond }),
    // Each connection uses one key for all its requests.
    setupClient: (client) => {
      const apiKey = apiKeys[load.operation === 'get by one key' ? 0 : clients++ % apiKeys.length]!
      client.setRequests([
        {
          setupRequest: (defaults) => {
            const request = next()
            return { ...defaults, ...request, headers: headersOf(apiKey, request) }
          },
        },
      ])
    },
  }
  const done = Promise.withResolvers<autocannon.Result>()
  const cannon = autocannon(options, (error, result) => (error ? done.reject(error) : done.resolve(result)))
  const expected = statusOf(load.operation)
  let failures = 0
  cannon.on('response', (_client, status, _bytes, ms) => {
    if (status === expected) return record(times, ms)
    failures++
  })
  const { errors } = await done.promise
  return resultOf(times, startedAt, failures + errors)
}

const sendRoundTrips = async ({
  natsUrl,
  inFlight,
  ...amount
}: WithAmount<RoundTripLoad>): Promise<LoadResult> => {
  const nats = await natsOf(natsUrl)
  const inbox = createInbox('_INBOX.gateway')
  const waiting = new Map<string, () => void>()
  const subscription = nats.subscribe(`${inbox}.*`, {
    callback: (_error, { subject }) => waiting.get(subject)?.(),
  })
  const command = new Uint8Array(1024).fill(120)
  const times = createHistogram()
  const startedAt = performance.now()
  let sent = 0
  const goesOn = () =>
    'amount' in amount ? sent < amount.amount : performance.now() < startedAt + amount.seconds * 1000
  const sendOneAtATime = async () => {
    while (goesOn()) {
      const start = performance.now()
      const replyInbox = `${inbox}.${++sent}`
      const messageHeaders = headers()
      messageHeaders.set('Reply-Inbox', replyInbox)
      const reply = new Promise<void>((resolve) => waiting.set(replyInbox, resolve))
      await Promise.all([
        reply,
        jetstream(nats).publish('publish.form', command, { headers: messageHeaders }),
      ])
      waiting.delete(replyInbox)
      record(times, performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sendOneAtATime))
  subscription.unsubscribe()
  return resultOf(times, startedAt, 0)
}

const connections = new Map<string, Promise<NatsConnection>>()
const natsOf = (url: string) => {
  if (!connections.has(url)) connections.set(url, connect(natsConnectionOptions(url)))
  return connections.get(url)!
}

/** Records milliseconds as whole microseconds, at least 1. */
const record = (times: RecordableHistogram, ms: number) => times.record(Math.max(1, Math.round(ms * 1000)))

const resultOf = (times: RecordableHistogram, startedAt: number, failures: number): LoadResult => ({
  requests: times.count,
  seconds: (performance.now() - startedAt) / 1000,
  p50: times.percentile(50) / 1000,
  p99: times.percentile(99) / 1000,
  failures,
})
