import { setImmediate } from 'node:timers/promises'
import { FormPublished, PublishForm, replyInboxHeader, requestIdHeader } from '@fms/contracts'
import { closeNats, overloaded, traceSending } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { createInbox, Events, headers, type MsgHdrs, type NatsConnection, nuid } from 'nats'
import { CircuitFull, createCircuit } from './circuit.ts'
import { publishingUnavailable, publishTimedOut } from './errors.ts'

/** How long NATS may take to have a command on its disk. */
const ackTimeoutMs = 5_000

/** What is to be published; the time that is left is written down when it is sent. */
type Command = Omit<PublishForm, 'timeoutMs'>

export interface PublisherClient {
  /**
   * Sends the command and waits for its reply.
   *
   * @param timeoutMs how long both may take.
   * @param gone aborted when nobody waits any longer; then the answer is undefined.
   * @throws {ApiError} PUBLISHING_UNAVAILABLE when it could not be sent, OVERLOADED when too many wait for
   *   NATS, also those whose caller went away, PUBLISH_TIMEOUT when the time is over.
   */
  publishForm(
    command: Command,
    timeoutMs: number,
    requestId: string,
    gone: AbortSignal,
  ): Promise<FormPublished | undefined>
  close(): Promise<void>
}

/**
 * Talks to whichever publisher is free, by way of a stream. Until NATS is there for the first time, it is away.
 *
 * @param maxRequests how many callers wait at once.
 */
export const createPublisherClient = (
  connecting: Promise<NatsConnection>,
  logger: FastifyBaseLogger,
  maxRequests: number,
): PublisherClient => {
  // Each may be sent a second time, when NATS is back.
  const circuit = createCircuit('publish', logger, 2 * maxRequests)
  const inbox = createInbox('_INBOX.gateway')
  const waiting = new Map<string, { answer(reply: Uint8Array): void; sendAgain(): void }>()
  let connected: NatsConnection | undefined

  const stayConnected = async () => {
    const nats = await connecting
    nats.subscribe(`${inbox}.*`, {
      callback: (err, { subject, data }) => {
        if (err) logger.error({ err }, 'NATS refuses the gateway its inbox: no publish can be confirmed')
        else waiting.get(subject)?.answer(data)
      },
    })
    const setConnected = (now: NatsConnection | undefined) => {
      connected = now
      if (now) logger.info('connected to NATS: forms can be published')
      else logger.warn('disconnected from NATS: no form can be published')
    }
    setConnected(nats)
    for await (const { type } of nats.status()) {
      if (type === Events.Disconnect) setConnected(undefined)
      if (type === Events.Reconnect) {
        setConnected(nats)
        // A reply that was sent meanwhile is lost; a command that comes twice gets it again.
        for (const { sendAgain } of waiting.values()) sendAgain()
      }
    }
  }
  stayConnected().catch((err) => logger.error({ err }, 'NATS cannot be used: nothing can be published'))

  let turn: Promise<void> | undefined
  /** The end of this turn of the event loop: commands that are sent then leave in one write. */
  const endOfTurn = () => {
    // The same promise for all: what follows it runs before NATS's client writes.
    turn ??= setImmediate().then(() => {
      turn = undefined
    })
    return turn
  }

  /** @param deadline a time of `performance.now()`, which no change of the clock moves. */
  const send = async (command: Command, deadline: number, about: MsgHdrs) => {
    const nats = connected
    if (!nats) throw publishingUnavailable(command.commandId, new Error('NATS is away'))
    const timeoutMs = Math.max(1, Math.round(deadline - performance.now()))
    const data = PublishForm.encode({ ...command, timeoutMs })
    const timeout = Math.min(ackTimeoutMs, timeoutMs)
    try {
      await circuit(() =>
        traceSending(PublishForm.subject, about, async () => {
          await endOfTurn()
          return nats.jetstream().publish(PublishForm.subject, data, { headers: about, timeout })
        }),
      )
    } catch (cause) {
      if (cause instanceof CircuitFull) throw overloaded()
      throw publishingUnavailable(command.commandId, cause)
    }
  }

  return {
    async publishForm(command, timeoutMs, requestId, gone) {
      const deadline = performance.now() + timeoutMs
      const replyInbox = `${inbox}.${nuid.next()}`
      const about = headers()
      about.set(replyInboxHeader, replyInbox)
      about.set(requestIdHeader, requestId)
      const reply = Promise.withResolvers<Uint8Array | undefined>()
      waiting.set(replyInbox, {
        answer: reply.resolve,
        sendAgain: () => send(command, deadline, about).catch(() => {}),
      })
      const timer = setTimeout(() => reply.reject(publishTimedOut(command.commandId)), timeoutMs)
      gone.addEventListener('abort', () => reply.resolve(undefined), { once: true })
      try {
        const [bytes] = await Promise.all([reply.promise, send(command, deadline, about)])
        return bytes && FormPublished.decode(bytes)
      } finally {
        clearTimeout(timer)
        waiting.delete(replyInbox)
      }
    },

    async close() {
      if (connected) await closeNats(connected)
      else connecting.then((nats) => nats.close()).catch(() => {})
    },
  }
}
