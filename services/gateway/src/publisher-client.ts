import { FormPublished, PublishForm, replyInboxHeader, requestIdHeader } from '@fms/contracts'
import { closeNats, traceSending } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { createInbox, Events, headers, type MsgHdrs, type NatsConnection, nuid } from 'nats'
import { createCircuit } from './circuit.ts'
import { publishingUnavailable, publishTimedOut } from './errors.ts'

/** How long NATS may take to have a command on its disk. */
const ackTimeoutMs = 5_000

export interface PublisherClient {
  /**
   * Sends the command and waits for its reply.
   *
   * @param gone aborted when nobody waits any longer; then the answer is undefined.
   * @throws {ApiError} PUBLISHING_UNAVAILABLE when it could not be sent, PUBLISH_TIMEOUT after its deadline.
   */
  publishForm(command: PublishForm, requestId: string, gone: AbortSignal): Promise<FormPublished | undefined>
  close(): Promise<void>
}

/** Talks to whichever publisher is free, by way of a stream. Until NATS is there for the first time, it is away. */
export const createPublisherClient = (
  connecting: Promise<NatsConnection>,
  logger: FastifyBaseLogger,
  now: () => number,
): PublisherClient => {
  const circuit = createCircuit('publish', logger)
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

  const send = async (command: PublishForm, about: MsgHdrs) => {
    const nats = connected
    if (!nats) throw publishingUnavailable(command.commandId, new Error('NATS is away'))
    const timeout = Math.min(ackTimeoutMs, Math.max(1, command.deadlineMs - now()))
    try {
      await circuit(() =>
        traceSending(PublishForm.subject, about, () =>
          nats
            .jetstream()
            .publish(PublishForm.subject, PublishForm.encode(command), { headers: about, timeout }),
        ),
      )
    } catch (cause) {
      throw publishingUnavailable(command.commandId, cause)
    }
  }

  return {
    async publishForm(command, requestId, gone) {
      const replyInbox = `${inbox}.${nuid.next()}`
      const about = headers()
      about.set(replyInboxHeader, replyInbox)
      about.set(requestIdHeader, requestId)
      const reply = Promise.withResolvers<Uint8Array | undefined>()
      waiting.set(replyInbox, {
        answer: reply.resolve,
        sendAgain: () => send(command, about).catch(() => {}),
      })
      const timer = setTimeout(
        () => reply.reject(publishTimedOut(command.commandId)),
        command.deadlineMs - now(),
      )
      gone.addEventListener('abort', () => reply.resolve(undefined), { once: true })
      try {
        const [bytes] = await Promise.all([reply.promise, send(command, about)])
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
