import { clockInboxOf, deadlineHeader, type PublishForm, replyInboxHeader } from '@fms/contracts'
import { type JsMsg, millis } from 'nats'
import type { GatewayClocks } from './gateway-clocks.ts'
import type { RemoteClock } from './remote-clock.ts'

export interface Clocks {
  gateways: GatewayClocks
  /** The clock of the server that keeps the stream. */
  stream: RemoteClock
}

/** When a command must not begin any more. */
export interface Deadline {
  /** Whether it is over. Where no clock can tell, it is. */
  isOver(): Promise<boolean>
  /** Throws {@link DeadlineOver} if it is over by what is known without a wait. */
  demand(): void
}

/** The command's caller has stopped waiting. */
export class DeadlineOver extends Error {}

/** The deadline that the gateway wrote on the command; of a gateway of the release before, its age in the stream. */
export const deadlineOf = (message: JsMsg, { timeoutMs }: PublishForm, clocks: Clocks): Deadline => {
  const [deadline, inbox] = [deadlineHeader, replyInboxHeader].map((name) => message.headers?.get(name))
  if (deadline && inbox) return deadlineOn(clocks.gateways(clockInboxOf(inbox)), Number(deadline))
  return deadlineOn(clocks.stream, millis(message.info.timestampNanos) + timeoutMs)
}

const deadlineOn = (clock: RemoteClock, momentMs: number): Deadline => ({
  isOver: () => clock.isPast(momentMs).catch(() => true),
  demand() {
    if (clock.seemsPast(momentMs)) throw new DeadlineOver()
  },
})
