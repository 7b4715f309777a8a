import { RequestsCounted } from '@fms/contracts'
import { followConnection } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { type NatsConnection, nuid } from 'nats'
import type { FixedWindowCounter } from './rate-limit.ts'

/** How often deltas are published, in milliseconds. A key may exceed its limit by what it sends in that time. */
const intervalMs = 250

/** How long publishing pauses after a reconnect, so that the other gateways reconnect as well. Milliseconds. */
const reconnectGraceMs = 1_000

/** Keys in one message: some 50 KB. */
const maxKeys = 1_000

/**
 * Publishes what this gateway counted, four times a second, and adds what others did. No request waits. Without NATS
 * each counts alone, and after a reconnect sends what it has of the current minutes.
 *
 * @returns the function that stops it.
 */
export const shareCounts = (
  counts: FixedWindowCounter,
  connecting: Promise<NatsConnection>,
  logger: FastifyBaseLogger,
): (() => void) => {
  const gateway = nuid.next()
  let publishDeltas = () => {}

  const applyDelta = (data: Uint8Array) => {
    const received = RequestsCounted.decode(data)
    if (received.gateway === gateway) return
    for (const [keyId, count, msLeft] of received.counts) counts.of(keyId, msLeft).count += count
  }

  const share = (nats: NatsConnection) => {
    nats.subscribe(RequestsCounted.subject, {
      callback: (err, { data }) => {
        if (err) return logger.error({ err }, 'NATS denies the subscription to the counts of other gateways')
        try {
          applyDelta(data)
        } catch (err) {
          logger.warn({ err }, 'invalid counts of another gateway')
        }
      },
    })
    let resumesAt = 0
    const connection = followConnection(nats, () => {
      resumesAt = performance.now() + reconnectGraceMs
    })
    publishDeltas = () => {
      if (!connection.isConnected || performance.now() < resumesAt) return
      const deltas = takeDeltas(counts)
      for (let first = 0; first < deltas.length; first += maxKeys)
        nats.publish(
          RequestsCounted.subject,
          RequestsCounted.encode({ gateway, counts: deltas.slice(first, first + maxKeys) }),
        )
    }
  }
  // Rejects only when the gateway stops before it is connected.
  connecting.then(share, () => {})
  const timer = setInterval(() => publishDeltas(), intervalMs).unref()

  return () => {
    clearInterval(timer)
    publishDeltas()
  }
}

const takeDeltas = (counts: FixedWindowCounter): RequestsCounted['counts'] => {
  const deltas: RequestsCounted['counts'] = []
  for (const keyId of counts.unsent) {
    const window = counts.find(keyId)
    if (!window) continue
    deltas.push([keyId, window.unsent, Math.ceil(counts.msLeft(keyId))])
    window.unsent = 0
  }
  counts.unsent.clear()
  return deltas
}
