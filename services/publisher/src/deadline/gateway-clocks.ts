import { GatewayClock } from '@fms/contracts'
import type { NatsConnection } from 'nats'
import { createRemoteClock, type RemoteClock } from './remote-clock.ts'

/** How long a gateway may take to answer, in milliseconds. */
const readTimeoutMs = 1_000

/** How long one reading serves: two monotonic clocks differ by less than 10 ms in that time. Milliseconds. */
const clockLifeMs = 10_000

/** How long a gateway that does not answer is not requested again, in milliseconds. */
const silenceMs = 1_000

/** @param inbox where a gateway answers requests for its clock. */
export type GatewayClocks = (inbox: string) => RemoteClock

/** The clocks of the gateways whose commands come here; each is read when it is first needed. */
export const createGatewayClocks = (nats: NatsConnection): GatewayClocks => {
  const clocks = new Map<string, RemoteClock>()
  const forgetAfter = (inbox: string, ms: number) => void setTimeout(() => clocks.delete(inbox), ms).unref()
  const read = async (inbox: string) => {
    try {
      const { data } = await nats.request(inbox, undefined, { timeout: readTimeoutMs })
      const { nowMs } = GatewayClock.decode(data)
      forgetAfter(inbox, clockLifeMs)
      return nowMs
    } catch (error) {
      forgetAfter(inbox, silenceMs)
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
