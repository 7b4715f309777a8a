/** Program: runs each load that its parent process sends, and sends back the result. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { natsConnectionOptions } from '@fms/service-kit'
import { jetstream } from '@nats-io/jetstream'
import autocannon from 'autocannon'
import { connect, createInbox, headers, type NatsConnection } from 'nats'
import type { EventsLoad, HttpLoad, Load, LoadResult, RoundTripLoad } from '../load/load-generator.ts'
import { headersOf, requestsOf, statusOf } from '../load/requests.ts'
import { followEvents } from './follow-events.ts'

type WithDuration<T> = T & { seconds: number }

const timeoutSeconds = 20
/** Interval at which autocannon checks whether the duration is over. */
const sampleMs = 50

process.on('message', async (load: WithDuration<Load>) => {
  try {
    process.send!(await run(load))
  } catch (error) {
    process.send!({ error: (error as Error).stack })
  }
})
process.once('disconnect', () => process.exit(0))

const run = (load: WithDuration<Load>): Promise<LoadResult> => {
  switch (load.kind) {
    case 'http':
      return sendRequests(load)
    case 'round trips':
      return sendRoundTrips(load)
    case 'events':
      return measureEvents(load)
  }
}

const measureEvents = async (load: WithDuration<EventsLoad>): Promise<LoadResult> => {
  const times = createHistogram()
  const startedAt = performance.now()
  const failures = await followEvents(load, await natsOf(load.natsUrl), times)
  return resultOf(times, startedAt, failures)
}

const sendRequests = async (load: WithDuration<HttpLoad>): Promise<LoadResult> => {
  const next = await requestsOf(load.operation, load.target)
  const { apiKeys } = load.target
  let clients = 0
  const times = createHistogram()
  const startedAt = performance.now()
  const options: autocannon.Options = {
    url: load.target.baseUrl,
    connections: load.connections,
    duration: load.seconds,
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
  seconds,
}: WithDuration<RoundTripLoad>): Promise<LoadResult> => {
  const nats = await natsOf(natsUrl)
  const inbox = createInbox('_INBOX.gateway')
  const waiting = new Map<string, () => void>()
  const subscription = nats.subscribe(`${inbox}.*`, {
    callback: (_error, { subject }) => waiting.get(subject)?.(),
  })
  const command = new Uint8Array(1024).fill(120)
  const times = createHistogram()
  const startedAt = performance.now()
  const end = startedAt + seconds * 1000
  let sent = 0
  const sendOneAtATime = async () => {
    while (performance.now() < end) {
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
