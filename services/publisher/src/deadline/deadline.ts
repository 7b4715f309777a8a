import { ExpectedOutcome } from '@fms/aip'
import { clockInboxOf, deadlineHeader, replyInboxHeader } from '@fms/contracts'
import type { JsMsg } from '@nats-io/jetstream'
import type { GatewayClocks } from './gateway-clocks.ts'
import type { RemoteClock } from './remote-clock.ts'

/** The deadline of a command is over: its caller no longer waits. */
export class DeadlineExceeded extends ExpectedOutcome {}

/** Reads the deadline from the command's header, on the clock of its gateway. Without the header it is over. */
export const deadlineOf = ({ headers }: JsMsg, clocks: GatewayClocks): Deadline => {
  const inbox = headers?.get(replyInboxHeader) ?? ''
  return deadlineOn(clocks(clockInboxOf(inbox)), Number(headers?.get(deadlineHeader)))
}

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
