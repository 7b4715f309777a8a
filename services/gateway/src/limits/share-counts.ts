import { RequestsCounted } from '@fms/contracts'
import type { FastifyBaseLogger } from 'fastify'
import { Events, type NatsConnection, nuid } from 'nats'
import type { FixedWindowCounter } from './fixed-window-counter.ts'

/** How often gateways tell each other: what a key sends in that time, it may send too much. */
const intervalMs = 250

/** Once NATS is back, so long the others may take to be back, too: what is told before nobody hears. Milliseconds. */
const settleMs = 1_000

/** Keys in one message: some 50 KB. */
const maxKeys = 1_000

export interface SharedCounts {
  /** Notes a request that was let through here. */
  add(keyId: string): void
  stop(): void
}

/**
 * Makes the counts of all gateways one: each tells the others, four times a second, what it has let through, and adds
 * what it hears. No request waits for it. While NATS is away, each counts for itself; once it is back, each tells what
 * the others have missed of the current minutes.
 */
export const shareCounts = (
  counts: FixedWindowCounter,
  connecting: Promise<NatsConnection>,
  logger: FastifyBaseLogger,
): SharedCounts => {
  const gateway = nuid.next()
  const untold = new Set<string>()
  let connected: NatsConnection | undefined
  let settling: NodeJS.Timeout | undefined

  const listen = async () => {
    const nats = await connecting
    nats.subscribe(RequestsCounted.subject, {
      callback: (err, { data }) => {
        if (err) return logger.error({ err }, 'NATS keeps the counts of other gateways from this one')
        try {
          hear(data)
        } catch (err) {
          logger.warn({ err }, 'counts of another gateway that cannot be read')
        }
      },
    })
    connected = nats
    for await (const { type } of nats.status()) {
      if (type === Events.Disconnect) {
        clearTimeout(settling)
        connected = undefined
      }
      if (type === Events.Reconnect) {
        settling = setTimeout(() => {
          connected = nats
        }, settleMs).unref()
      }
    }
    connected = undefined
  }
  listen().catch((err) => logger.error({ err }, 'NATS cannot be used: rate limits are not shared'))

  const hear = (data: Uint8Array) => {
    const heard = RequestsCounted.decode(data)
    if (heard.gateway === gateway) return
    for (const [keyId, count, msLeft] of heard.counts) counts.of(keyId, msLeft).count += count
  }

  const tell = () => {
    const news: RequestsCounted['counts'] = []
    for (const keyId of untold) {
      const window = counts.find(keyId)
      if (window && !connected) continue
      untold.delete(keyId)
      // Forgotten in between, and begun by what another told: nothing of it is ours.
      if (!window?.untold) continue
      news.push([keyId, window.untold, Math.ceil(counts.msLeft(window))])
      window.untold = 0
    }
    for (let first = 0; first < news.length; first += maxKeys)
      connected?.publish(
        RequestsCounted.subject,
        RequestsCounted.encode({ gateway, counts: news.slice(first, first + maxKeys) }),
      )
  }
  const timer = setInterval(tell, intervalMs).unref()

  return {
    add(keyId) {
      const window = counts.of(keyId)
      window.count++
      window.untold++
      untold.add(keyId)
    },
    stop() {
      clearInterval(timer)
      clearTimeout(settling)
      tell()
    },
  }
}
