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
import { headers, type JsMsg, type NatsConnection } from 'nats'
import { type Clocks, DeadlineOver, deadlineOf } from '../deadline/deadline.ts'
import { type PublishDeps, publish, toFormPublished } from '../publish.ts'

/** A command that fails for a reason unknown to us this many times will not succeed. */
const maxDefects = 5

/** How long the stream of dead letters may take to store one, in milliseconds. */
const deadLetterTimeoutMs = 1_000

export interface PublishFormDeps extends PublishDeps {
  nats: NatsConnection
  logger: FastifyBaseLogger
  clocks: Clocks
  /** Counts a late command for the log. */
  logLate: () => void
}

/** What became of a delivery. */
export type Disposition = 'published' | 'refused' | 'retried' | 'late' | 'dead'

/**
 * Takes one delivery of a publish command to its end: replies to the gateway and acks, or has it delivered again, or
 * puts it aside. May run twice for one command, also at the same time. Past its deadline a command ends here, before
 * the store is looked at.
 */
export const consumePublishForm = async (message: JsMsg, deps: PublishFormDeps): Promise<Disposition> => {
  const begun = performance.now()
  const command = decoded(message)
  if (command instanceof Error) {
    loggerOf(message, deps).error({ err: command }, 'a command that cannot be read')
    return bury(message, 'malformed', deps)
  }
  const deadline = deadlineOf(message, command, deps.clocks)
  if (await deadline.isOver()) return endLate(message, deps)

  const logger = loggerOf(message, deps)
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
    const form = await publish(command, deps, deadline.demand)
    reply(message, toFormPublished(form, deps.publicFormBaseUrl), deps)
    message.ack()
    logger.info(fields, 'published')
    return 'published'
  } catch (error) {
    if (error instanceof DeadlineOver) return endLate(message, deps)
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

const loggerOf = (message: JsMsg, { logger }: PublishFormDeps): FastifyBaseLogger =>
  logger.child({
    request_id: message.headers?.get(requestIdHeader),
    deliveries: message.info.deliveryCount,
    ...traceFields(),
  })

/** Nobody waits for a reply, and nothing has to be kept. */
const endLate = (message: JsMsg, { logLate }: PublishFormDeps): Disposition => {
  message.term('deadline')
  logLate()
  return 'late'
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

const reply = (message: JsMsg, outcome: FormPublished, { nats }: PublishFormDeps): void => {
  const inbox = message.headers?.get(replyInboxHeader)
  if (inbox) nats.publish(inbox, FormPublished.encode(outcome))
}

const refuse = (message: JsMsg, error: ApiError, deps: PublishFormDeps): void =>
  reply(message, { outcome: 'refused', problem: error.toProblem() }, deps)

/**
 * Takes a command that can never succeed out of the queue, and keeps it for people to look at. Where the dead letter
 * cannot be stored, a line in the log remains.
 */
const bury = async (message: JsMsg, reason: string, deps: PublishFormDeps): Promise<Disposition> => {
  try {
    await storeDeadLetter(message, reason, deps)
  } catch (err) {
    loggerOf(message, deps).error({ err, reason }, 'the dead letter of a command could not be stored')
  }
  message.term(reason)
  return 'dead'
}

const storeDeadLetter = async (message: JsMsg, reason: string, { nats }: PublishFormDeps): Promise<void> => {
  const notes = headers()
  for (const [key, values] of message.headers ?? []) for (const value of values) notes.append(key, value)
  notes.set(deadLetterReasonHeader, reason)
  const options = { headers: notes, timeout: deadLetterTimeoutMs }
  await nats.jetstream().publish('publish.dead.form', message.data, options)
}
