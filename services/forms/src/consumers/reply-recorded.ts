import { ApiError } from '@fms/aip'
import { ReplyRecorded, repliesStream, replyCounterConsumer } from '@fms/contracts'
import type { FormsStore } from '@fms/forms-store'
import { ensureConsumer, ensureStream } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import {
  AckPolicy,
  type Consumer,
  type JsMsg,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
} from 'nats'
import { createReplyCounter } from './count-replies.ts'

/** An event whose counter died comes to another one after this. */
const ackWaitMs = 5_000

/** Events that all counters together have in hand. */
const maxAckPending = 10_000

/** How a forms service takes events: so many at once that a form with many replies leaves places to the others. */
export const replyConsumption = { ackWaitMs, maxMessages: 1_000 }

/** While the store is away an event comes again after this. */
const retryMs = 1_000

/** Makes the stream and the consumer of replies, or brings them up to date. */
export const ensureReplies = async (nats: NatsConnection): Promise<Consumer> => {
  const manager = await nats.jetstreamManager()
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
  return nats.jetstream().consumers.get(repliesStream.name, replyCounterConsumer)
}

/**
 * Makes the handler of events. It counts a reply and acks; one that was counted before, or whose form is gone, is acked
 * just the same.
 */
export const createReplyConsumer = ({
  forms,
  logger,
}: {
  forms: FormsStore
  logger: FastifyBaseLogger
}): ((message: JsMsg) => Promise<void>) => {
  const count = createReplyCounter(forms)
  return async (message) => {
    const reply = decoded(message)
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

const decoded = (message: JsMsg): ReplyRecorded | Error => {
  try {
    return ReplyRecorded.decode(message.data)
  } catch (error) {
    return error as Error
  }
}
