import { ApiError } from '@fms/aip'
import {
  deadLetterReasonHeader,
  FormPublished,
  PublishForm,
  replyInboxHeader,
  requestIdHeader,
} from '@fms/contracts'
import { internal, traceFields } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { headers, type JsMsg, millis, type NatsConnection } from 'nats'
import { type PublishDeps, publish, toFormPublished } from '../publish.ts'
import type { StreamClock } from '../stream-clock.ts'

/** A command that fails for a reason unknown to us this many times will not succeed. */
const maxDefects = 5

export interface PublishFormDeps extends PublishDeps {
  nats: NatsConnection
  logger: FastifyBaseLogger
  streamClock: StreamClock
}

/** What became of a delivery. */
export type Disposition = 'published' | 'refused' | 'retried' | 'dead'

/**
 * Takes one delivery of a publish command to its end: answers the gateway and acks, or asks for it again, or puts it
 * aside. May run twice for one command, also at the same time.
 */
export const consumePublishForm = async (message: JsMsg, deps: PublishFormDeps): Promise<Disposition> => {
  const begun = performance.now()
  const logger = deps.logger.child({
    request_id: message.headers?.get(requestIdHeader),
    deliveries: message.info.deliveryCount,
    ...traceFields(),
  })
  const command = decoded(message)
  if (command instanceof Error) {
    logger.error({ err: command }, 'a command that cannot be read')
    return bury(message, 'malformed', deps)
  }

  const fields = {
    command: command.commandId,
    user: command.userId,
    organization: command.organizationId,
    form: command.formRef,
    get duration_ms() {
      return Math.round((performance.now() - begun) * 100) / 100
    },
  }
  try {
    if (await isTooLate(command, message, deps)) {
      logger.warn(fields, 'nobody waits for this command any more')
      return await bury(message, 'deadline', deps)
    }
    const form = await publish(command, deps)
    answer(message, toFormPublished(form, deps.publicFormBaseUrl), deps)
    message.ack()
    logger.info(fields, 'published')
    return 'published'
  } catch (error) {
    if (error instanceof ApiError && error.status !== 'UNAVAILABLE') {
      refuse(message, error, deps)
      message.ack()
      logger.info({ ...fields, reason: error.reason }, 'refused')
      return 'refused'
    }
    const isDefect = !(error instanceof ApiError)
    logger.error({ ...fields, err: error }, isDefect ? 'a defect' : 'the store is away')
    if (isDefect && message.info.deliveryCount >= maxDefects) {
      refuse(message, internal(error), deps)
      return bury(message, 'defect', deps)
    }
    message.nak(retryDelayMs(message.info.deliveryCount))
    return 'retried'
  }
}

/** 100 ms, doubling to 2 s: the store may be back before the gateway's deadline. */
const retryDelayMs = (deliveries: number) => Math.min(100 * 2 ** (deliveries - 1), 2_000)

const decoded = (message: JsMsg): PublishForm | Error => {
  try {
    return PublishForm.decode(message.data)
  } catch (error) {
    return error as Error
  }
}

/** A command whose caller has gone begins nothing any more; one that has stored its revision is finished. */
const isTooLate = async (
  { timeoutMs, organizationId, commandId }: PublishForm,
  { info }: JsMsg,
  { forms, streamClock }: PublishFormDeps,
) => {
  const deadlineMs = millis(info.timestampNanos) + timeoutMs
  return (
    (await streamClock.isPast(deadlineMs)) && !(await forms.findRevisionOfCommand(organizationId, commandId))
  )
}

const answer = (message: JsMsg, reply: FormPublished, { nats }: PublishFormDeps): void => {
  const inbox = message.headers?.get(replyInboxHeader)
  if (inbox) nats.publish(inbox, FormPublished.encode(reply))
}

const refuse = (message: JsMsg, error: ApiError, deps: PublishFormDeps): void =>
  answer(message, { outcome: 'refused', problem: error.toProblem() }, deps)

/** Keeps a command that can never succeed for people to look at, then takes it out of the queue. */
const bury = async (message: JsMsg, reason: string, { nats }: PublishFormDeps): Promise<Disposition> => {
  const notes = headers()
  for (const [key, values] of message.headers ?? []) for (const value of values) notes.append(key, value)
  notes.set(deadLetterReasonHeader, reason)
  await nats.jetstream().publish('publish.dead.form', message.data, { headers: notes })
  message.term(reason)
  return 'dead'
}
