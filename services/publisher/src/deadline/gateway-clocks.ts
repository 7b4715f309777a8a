import { GatewayClock } from '@fms/contracts'
import { type NatsConnection, RequestError } from 'nats'
import { createRemoteClock, type RemoteClock } from './remote-clock.ts'

const readTimeoutMs = 1_000

/** How long a reading is cached: two monotonic clocks drift by less than 10 ms in that time. Milliseconds. */
const cacheMs = 10_000

/** How long a reading that timed out is cached, in milliseconds. */
const failureCacheMs = 1_000

/** @param inbox subject on which a gateway responds to requests for its clock. */
export type GatewayClocks = (inbox: string) => RemoteClock

/** Creates a cache of gateway clocks. Each clock is read at its first use. */
export const createGatewayClocks = (nats: NatsConnection): GatewayClocks => {
  const clocks = new Map<string, RemoteClock>()
  const evictAfter = (inbox: string, ms: number) => void setTimeout(() => clocks.delete(inbox), ms).unref()
  const read = async (inbox: string) => {
    try {
      const { data } = await nats.request(inbox, undefined, { timeout: readTimeoutMs })
      const { nowMs } = GatewayClock.decode(data)
      evictAfter(inbox, cacheMs)
      return nowMs
    } catch (error) {
      // A gateway without a subscription may be reconnecting, to send its pending commands again.
      if (error instanceof RequestError && error.isNoResponders()) clocks.delete(inbox)
      else evictAfter(inbox, failureCacheMs)
      throw error
    }
  }
  return (inbox) => {
    let clock = clocks.get(inbox)
    if (!clock) {
      clock = createRemoteClock(() => read(inbox))
      clocks.set(inbox, clock)
    }
    return clock
  }
}
