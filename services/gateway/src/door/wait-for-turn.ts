import type { FairQueue, Flow, Ticket } from '@fms/fair-queue'

/** How long a request may wait at a door, or for memory, in milliseconds. */
export const maxWaitMs = 5_000

/** Who waits: a Fastify reply. */
export interface WaitingCaller {
  /** Whether the caller has its response, or has disconnected. */
  readonly hasEnded: boolean
  /** Called when the caller disconnects before its response. */
  onDisconnect: (() => void) | undefined
}

export interface Wait {
  maxWaitMs: number
  /** Leaves the queue when it disconnects. */
  caller?: WaitingCaller | undefined
  /** Places to hold; 1 by default. */
  places?: number
}

/** Waits for places in a queue. @returns undefined when the time is over, or the caller has disconnected. */
export const waitForTurn = (
  queue: FairQueue,
  flow: Flow,
  { maxWaitMs, caller, places }: Wait,
): Promise<Ticket | undefined> =>
  new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const settle = (ticket?: Ticket) => {
      clearTimeout(timer)
      if (timer && caller) caller.onDisconnect = undefined
      resolve(ticket)
    }
    const ticket = queue.enter(flow, settle, places)
    if (ticket.state !== 'waiting') return
    const leave = () => {
      queue.leave(ticket)
      settle()
    }
    // Spread over time: requests that came at once would otherwise fail in one turn of the event loop, and come back so.
    timer = setTimeout(leave, maxWaitMs * (0.75 + Math.random() / 4))
    if (caller) caller.onDisconnect = leave
  })
