import { ApiError } from '@fms/aip'
import { ReplyRecorded, repliesStream, replyCounterConsumer } from '@fms/contracts'
import type { FormsStore } from '@fms/forms-store'
import { ensureConsumer, ensureStream } from '@fms/service-kit'
import {
  AckPolicy,
  type Consumer,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import type { FastifyBaseLogger } from 'fastify'
import { type NatsConnection, nanos } from 'nats'
import { createReplyCounter } from './count-replies.ts'

/** NATS redelivers an event that is not acknowledged within this time. */
const ackWaitMs = 5_000

/** Events in flight over all forms services. */
const maxAckPending = 10_000

/** Consumer options of one forms service. `maxMessages` is high, so that one busy form does not block the others. */
export const replyConsumption = { ackWaitMs, maxMessages: 1_000 }

/** Delay of a redelivery while the store is unavailable. */
const retryMs = 1_000

export const ensureReplies = async (nats: NatsConnection): Promise<Consumer> => {
  const manager = await jetstreamManager(nats)
  await ensureStream(manager, {
    name: repliesStream.name,
    subjects: [...repliesStream.subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
  })
  await ensureConsumer(manager, repliesStream.name, {
    durable_name: replyCounterConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: maxAckPending,
  })
  return jetstream(nats).consumers.get(repliesStream.name, replyCounterConsumer)
}

/** The handler of events: counts a reply and acks, also if the reply was counted before or its form is deleted. */
export const createReplyConsumer = (forms: FormsStore, logger: FastifyBaseLogger) => {
  const count = createReplyCounter(forms)
  return async (message: JsMsg): Promise<void> => {
    const reply = decode(message)
    if (reply instanceof Error) {
      logger.error({ err: reply }, 'an event that cannot be read is dropped')
      message.term('malformed')
      return
    }
    try {
      await count(reply)
      message.ack()
      logger.debug({ form: reply.formId, reply: reply.replyId }, 'reply recorded')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      message.nak(retryMs)
    }
  }
}

const decode = (message: JsMsg): ReplyRecorded | Error => {
  try {
    return ReplyRecorded.decode(message.data)
  } catch (error) {
    return error as Error
  }
}
