import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import {
  clockInboxOf,
  deadlineHeader,
  FormPublished,
  GatewayClock,
  PublishForm,
  replyInboxHeader,
  requestIdHeader,
} from '@fms/contracts'
import { closeNats, overloaded, traceSending } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import {
  createInbox,
  ErrorCode,
  Events,
  headers,
  type MsgHdrs,
  type NatsConnection,
  type NatsError,
  nuid,
} from 'nats'
import CircuitBreaker from 'opossum'
import { publishingUnavailable, publishTimedOut } from '../errors.ts'
import { ConcurrencyLimitReached, createCircuit } from '../upstream/circuit.ts'

/** After so long without a PubAck the command is sent again, in milliseconds. */
const ackTimeoutMs = 2_000

/** Between a PubAck that failed and the next attempt, in milliseconds. */
const retryMs = 250

/** What is to be published; the time that is left is written down when it is sent. */
type Command = Omit<PublishForm, 'timeoutMs'>

/** A publish request of a caller. */
interface UnderWay {
  command: Command
  headers: MsgHdrs
  /** When its caller stops waiting: a time of `performance.now()`, which no change of the wall clock moves. */
  deadline: number
  /** Whether a reply is still waited for. */
  isWanted(): boolean
}

export interface PublisherClient {
  /**
   * Sends the command, again until NATS has it on its disk, and waits for its reply.
   *
   * @param timeoutMs how long both may take. Later the command is not carried out any more.
   * @param gone aborted when nobody waits any longer; then the answer is undefined.
   * @throws {ApiError} PUBLISHING_UNAVAILABLE when NATS has not stored it, OVERLOADED when too many wait for
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
  const clockInbox = clockInboxOf(`${inbox}.`)
  const waiting = new Map<string, { answer(reply: Uint8Array): void; sendAgain(): void }>()
  let connected: NatsConnection | undefined

  const stayConnected = async () => {
    const nats = await connecting
    nats.subscribe(`${inbox}.*`, {
      callback: (err, message) => {
        if (err) logger.error({ err }, 'NATS refuses the gateway its inbox: no publish can be confirmed')
        else if (message.subject === clockInbox) {
          message.respond(GatewayClock.encode({ nowMs: performance.now() }))
        } else waiting.get(message.subject)?.answer(message.data)
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

  /** One attempt. */
  const sendOnce = async ({ command, headers, deadline }: UnderWay) => {
    const nats = connected
    if (!nats) throw new Error('NATS is away')
    const timeoutMs = Math.max(1, Math.round(deadline - performance.now()))
    const data = PublishForm.encode({ ...command, timeoutMs })
    const timeout = Math.min(ackTimeoutMs, timeoutMs)
    await endOfTurn()
    return nats.jetstream().publish(PublishForm.subject, data, { headers, timeout })
  }

  /** Resolves once NATS has the command on its disk. Rejects once NATS is silent: what it refuses may be gone soon. */
  const sendUntilSilent = async (request: UnderWay) => {
    for (;;) {
      try {
        return await sendOnce(request)
      } catch (cause) {
        if (isTimeout(cause) || isRefusal(cause) || isOver(request)) throw cause
        await delay(retryMs)
      }
    }
  }

  /** Goes on through the circuit until the deadline, but does not begin while the circuit is open or full. */
  const sendUntilStored = async (request: UnderWay) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await circuit(() => sendUntilSilent(request))
      } catch (cause) {
        if ((attempt === 1 && isOfCircuit(cause)) || isRefusal(cause) || isOver(request)) throw cause
        await delay(retryMs)
      }
    }
  }

  const send = async (request: UnderWay) => {
    const { commandId } = request.command
    if (!connected) throw publishingUnavailable(commandId, new Error('NATS is away'))
    try {
      await traceSending(PublishForm.subject, request.headers, () => sendUntilStored(request))
    } catch (cause) {
      if (cause instanceof ConcurrencyLimitReached) throw overloaded()
      throw publishingUnavailable(commandId, cause)
    }
  }

  return {
    async publishForm(command, timeoutMs, requestId, gone) {
      const deadline = performance.now() + timeoutMs
      const replyInbox = `${inbox}.${nuid.next()}`
      const about = headers()
      about.set(replyInboxHeader, replyInbox)
      about.set(requestIdHeader, requestId)
      about.set(deadlineHeader, `${Math.floor(deadline)}`)
      const reply = Promise.withResolvers<Uint8Array | undefined>()
      const request = { command, headers: about, deadline, isWanted: () => waiting.has(replyInbox) }
      waiting.set(replyInbox, {
        answer: reply.resolve,
        sendAgain: () => send(request).catch(() => {}),
      })
      let isStored = false
      const timer = setTimeout(() => {
        const late = isStored ? publishTimedOut : neverStored
        reply.reject(late(command.commandId))
      }, timeoutMs)
      gone.addEventListener('abort', () => reply.resolve(undefined), { once: true })
      const sent = send(request).then(() => {
        isStored = true
        return reply.promise
      })
      try {
        const bytes = await Promise.race([reply.promise, sent])
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

/** Whether another attempt would come too late, or for nobody. */
const isOver = ({ deadline, isWanted }: UnderWay): boolean =>
  performance.now() + retryMs >= deadline || !isWanted()

const isTimeout = (cause: unknown): boolean => (cause as Partial<NatsError>).code === ErrorCode.Timeout

/** Whether the circuit let nothing through. */
const isOfCircuit = (cause: unknown): boolean =>
  cause instanceof ConcurrencyLimitReached || CircuitBreaker.isOurError(cause as Error)

/** JetStream's codes for a full queue and a full disk. */
const fullCodes: unknown[] = [10_023, 10_047, 10_077]

/** Whether JetStream has said no; all other failures may be gone at the next attempt. */
const isRefusal = (cause: unknown): boolean => {
  const { api_error } = cause as Partial<NatsError>
  return api_error !== undefined && (api_error.code < 500 || fullCodes.includes(api_error.err_code))
}

const neverStored = (commandId: string) =>
  publishingUnavailable(commandId, new Error('NATS has not stored the command in time'))
