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
import { closeNats, followConnection, traceSending } from '@fms/service-kit'
import { JetStreamApiError, jetstream } from '@nats-io/jetstream'
import type { FastifyBaseLogger } from 'fastify'
import { createInbox, errors, headers, type MsgHdrs, type NatsConnection, nuid } from 'nats'
import { publishingUnavailable, publishTimedOut } from '../errors.ts'
import { type Circuit, createCircuit, isOpenError } from '../upstream/circuit.ts'

/** Timeout of a PubAck, in milliseconds; then the command is sent again. */
const ackTimeoutMs = 2_000

/** Delay between a failed attempt and the next one, in milliseconds. */
const retryMs = 250

interface PublishRequest {
  command: PublishForm
  headers: MsgHdrs
  /** When its caller stops waiting, by `performance.now()`: a monotonic clock. */
  deadline: number
  /** Copies of the command that NATS has stored or may have stored. */
  copies: number
  /** Whether the reply has not come yet. */
  isPending(): boolean
  receive(data: Uint8Array): void
  giveUp(): void
}

interface Connection {
  /** Undefined while disconnected, and before the first connection. */
  nats: NatsConnection | undefined
  /** Prefix of the reply subjects. */
  inbox: string
  /** The requests whose replies callers wait for, by subject. */
  pending: Map<string, PublishRequest>
}

/** Sends publish commands to the stream. PUBLISHING_UNAVAILABLE until NATS is connected for the first time. */
export const createPublisherClient = (connecting: Promise<NatsConnection>, logger: FastifyBaseLogger) => {
  const inbox = createInbox('_INBOX.gateway')
  const connection: Connection = { nats: undefined, inbox, pending: new Map() }
  const { pending } = connection
  const send = createSend(connection, createCircuit('publish', logger))
  // Rejects only when the gateway stops before it is connected.
  connecting.then(
    (nats) => follow(nats, connection, send, logger),
    () => {},
  )

  return {
    /**
     * Sends the command until NATS has stored it, and waits for the reply, also for a caller who has gone: the command
     * is on its way.
     *
     * @param deadline by `performance.now()`.
     * @throws {ApiError} PUBLISHING_UNAVAILABLE if it is not stored; PUBLISH_TIMEOUT without a reply in time.
     */
    async publishForm(command: PublishForm, deadline: number, requestId: string): Promise<FormPublished> {
      const replyInbox = `${inbox}.${nuid.next()}`
      const reply = Promise.withResolvers<FormPublished>()
      const refusals: FormPublished[] = []
      const request: PublishRequest = {
        command,
        headers: headersOf(replyInbox, requestId, deadline),
        deadline,
        copies: 0,
        isPending: () => pending.has(replyInbox),
        receive(data) {
          try {
            const outcome = FormPublished.decode(data)
            // While a refused caller corrects the draft, another copy would publish it.
            if (outcome.outcome === 'published' || refusals.push(outcome) >= request.copies)
              reply.resolve(outcome)
          } catch (error) {
            reply.reject(error)
          }
        },
        giveUp: () => reply.reject(publishingUnavailable(command.commandId, new Error('The gateway stops'))),
      }
      pending.set(replyInbox, request)
      let isStored = false
      const timer = setTimeout(() => {
        const timeoutError = isStored ? publishTimedOut : neverStored
        if (refusals[0]) reply.resolve(refusals[0])
        else reply.reject(timeoutError(command.commandId))
      }, deadline - performance.now())
      send(request).then(() => {
        isStored = true
      }, reply.reject)
      try {
        return await reply.promise
      } finally {
        clearTimeout(timer)
        pending.delete(replyInbox)
      }
    },

    /** Rejects publishes without a reply, and later ones, with PUBLISHING_UNAVAILABLE. */
    giveUp(): void {
      connection.nats = undefined
      for (const { giveUp } of pending.values()) giveUp()
    },

    async close(): Promise<void> {
      if (connection.nats) await closeNats(connection.nats)
      else connecting.then((nats) => nats.close()).catch(() => {})
    },
  }
}

export type PublisherClient = ReturnType<typeof createPublisherClient>

const headersOf = (replyInbox: string, requestId: string, deadline: number): MsgHdrs => {
  const result = headers()
  result.set(replyInboxHeader, replyInbox)
  result.set(requestIdHeader, requestId)
  result.set(deadlineHeader, `${Math.floor(deadline)}`)
  return result
}

/** Subscribes to the inbox, and keeps `connection.nats` up to date until NATS is closed. */
const follow = (
  nats: NatsConnection,
  connection: Connection,
  send: (request: PublishRequest) => Promise<void>,
  logger: FastifyBaseLogger,
): void => {
  subscribeToInbox(nats, connection, logger)
  const setConnected = (isConnected: boolean) => {
    connection.nats = isConnected ? nats : undefined
    if (isConnected) logger.info('connected to NATS: forms can be published')
    else logger.warn('disconnected from NATS: no form can be published')
  }
  setConnected(true)
  followConnection(nats, (isConnected) => {
    setConnected(isConnected)
    if (!isConnected) return
    // A reply that was sent meanwhile is lost. A repeated command gets the same reply again.
    for (const request of connection.pending.values()) send(request).catch(() => {})
  })
}

/** Resolves pending replies, and replies to publishers that request the gateway's clock. */
const subscribeToInbox = (
  nats: NatsConnection,
  { inbox, pending }: Connection,
  logger: FastifyBaseLogger,
): void => {
  const clockInbox = clockInboxOf(`${inbox}.`)
  nats.subscribe(`${inbox}.*`, {
    callback: (err, message) => {
      if (err) {
        logger.error({ err }, 'NATS denies the subscription to replies: no publish can be confirmed')
      } else if (message.subject === clockInbox) {
        message.respond(GatewayClock.encode({ nowMs: performance.now() }))
      } else pending.get(message.subject)?.receive(message.data)
    },
  })
}

/** Sends a command with retries. Resolves when NATS has stored it. */
const createSend = (connection: Connection, circuit: Circuit) => {
  const endOfTurn = createEndOfTurn()

  const sendOnce = async (request: PublishRequest) => {
    const { command, headers, deadline } = request
    const { nats } = connection
    if (!nats) throw new Error('NATS is not connected')
    const timeout = Math.min(ackTimeoutMs, Math.max(1, Math.round(deadline - performance.now())))
    request.copies++
    try {
      await endOfTurn()
      return await jetstream(nats).publish(PublishForm.subject, PublishForm.encode(command), {
        headers,
        timeout,
      })
    } catch (cause) {
      if (!isTimeout(cause)) request.copies--
      throw cause
    }
  }

  /** Retries until there is a PubAck, a rejection that is final, or a timeout, which the circuit has to see. */
  const sendUntilTimeout = async (request: PublishRequest) => {
    for (;;) {
      try {
        return await sendOnce(request)
      } catch (cause) {
        if (isTimeout(cause) || isRejection(cause) || isOver(request)) throw cause
        await pause(request, cause)
      }
    }
  }

  /** Retries through the circuit until the deadline. Fails immediately if the circuit is open at the start. */
  const sendUntilStored = async (request: PublishRequest) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await circuit(
          () => sendUntilTimeout(request),
          (error) => !isRejection(error),
        )
      } catch (cause) {
        if ((attempt === 1 && isOpenError(cause)) || isRejection(cause) || isOver(request)) throw cause
        await pause(request, cause)
      }
    }
  }

  return async (request: PublishRequest): Promise<void> => {
    const { commandId } = request.command
    if (!connection.nats) throw publishingUnavailable(commandId, new Error('NATS is not connected'))
    try {
      await traceSending(PublishForm.subject, request.headers, () => sendUntilStored(request))
    } catch (cause) {
      throw publishingUnavailable(commandId, cause)
    }
  }
}

/** Returns a function that resolves at the end of the event loop's turn: commands that wait for it share one write. */
const createEndOfTurn = () => {
  let turn: Promise<void> | undefined
  return () => {
    // One promise for all waiting commands: their continuations run before the NATS client writes.
    turn ??= setImmediate().then(() => {
      turn = undefined
    })
    return turn
  }
}

/** Waits before the next attempt. @throws `cause` if it has become needless. */
const pause = async ({ isPending }: PublishRequest, cause: unknown): Promise<void> => {
  await delay(retryMs)
  if (!isPending()) throw cause
}

/** Whether another attempt would be too late, or needless. */
const isOver = ({ deadline, isPending }: PublishRequest): boolean =>
  performance.now() + retryMs >= deadline || !isPending()

const isTimeout = (cause: unknown): boolean => cause instanceof errors.TimeoutError

/** JetStream's error codes for a full stream and a full disk. */
const fullCodes: unknown[] = [10_023, 10_047, 10_077]

/** Whether JetStream rejected the command, so that another attempt would fail as well. */
const isRejection = (cause: unknown): boolean => {
  if (!(cause instanceof JetStreamApiError)) return false
  const { code, err_code } = cause.apiError()
  return code < 500 || fullCodes.includes(err_code)
}

const neverStored = (commandId: string) =>
  publishingUnavailable(commandId, new Error('NATS has not stored the command in time'))
