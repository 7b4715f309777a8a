import { clockInboxOf, deadlineHeader, type PublishForm, replyInboxHeader } from '@fms/contracts'
import type { JsMsg } from '@nats-io/jetstream'
import { millis } from 'nats'
import type { GatewayClocks } from './gateway-clocks.ts'
import type { RemoteClock } from './remote-clock.ts'

export interface Clocks {
  gateways: GatewayClocks
  /** The clock of the NATS server that stores the stream. */
  stream: RemoteClock
}

/** The deadline of a command is over: its caller no longer waits. */
export class DeadlineExceeded extends Error {}

/**
 * Reads the deadline from the command's header, on the clock of its gateway. Gateways of the previous release send none; then
 * the command's age in the stream counts.
 */
export const deadlineOf = (message: JsMsg, { timeoutMs }: PublishForm, clocks: Clocks): Deadline => {
  const [deadline, inbox] = [deadlineHeader, replyInboxHeader].map((name) => message.headers?.get(name))
  if (deadline && inbox) return deadlineOn(clocks.gateways(clockInboxOf(inbox)), Number(deadline))
  return deadlineOn(clocks.stream, millis(message.info.timestampNanos) + timeoutMs)
}

/** The time after which a command must not start. */
const deadlineOn = (clock: RemoteClock, momentMs: number) => ({
  /** Whether the deadline is over. True if its clock cannot be read. */
  isOver: (): Promise<boolean> => clock.isPast(momentMs).catch(() => true),
  /** Checks the deadline by the last reading of the clock, without I/O. @throws {DeadlineExceeded} if it is over. */
  assertNotOver() {
    if (clock.seemsPast(momentMs)) throw new DeadlineExceeded()
  },
  /** Whether it is over in `ms` milliseconds, by the last reading of the clock. */
  isOverIn: (ms: number): boolean => clock.seemsPast(momentMs - ms),
})

export type Deadline = ReturnType<typeof deadlineOn>
