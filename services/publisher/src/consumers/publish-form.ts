import { ApiError } from '@fms/aip'
import {
  deadLetterReasonHeader,
  FormPublished,
  PublishForm,
  replyInboxHeader,
  requestIdHeader,
} from '@fms/contracts'
import type { FairQueue } from '@fms/scheduling'
import { flowOf, internal, traceFields } from '@fms/service-kit'
import { type JsMsg, jetstream } from '@nats-io/jetstream'
import type { FastifyBaseLogger } from 'fastify'
import { headers, type NatsConnection } from 'nats'
import { type Deadline, DeadlineExceeded, deadlineOf } from '../deadline/deadline.ts'
import type { GatewayClocks } from '../deadline/gateway-clocks.ts'
import { type PublishDeps, publish, toFormPublished } from '../publish.ts'

const deadLetterTimeoutMs = 1_000

export interface PublishFormDeps extends PublishDeps {
  nats: NatsConnection
  logger: FastifyBaseLogger
  clocks: GatewayClocks
  turns: FairQueue
  logLateCommand: () => void
}

export type DeliveryOutcome = 'published' | 'refused' | 'retried' | 'late' | 'dead'

/**
 * Handles one delivery of a command: reply and ack, nak for a redelivery, or dead letter. May run twice, also at once.
 * Only the deadline limits deliveries: the store may be away for the 10 to 12 seconds of an election.
 */
export const consumePublishForm = async (message: JsMsg, deps: PublishFormDeps): Promise<DeliveryOutcome> => {
  const startMs = performance.now()
  const command = decode(message)
  if (command instanceof Error) {
    loggerOf(message, deps).error({ err: command }, 'unreadable command')
    return deadLetter(message, 'malformed', deps)
  }
  const deadline = deadlineOf(message, deps.clocks)
  if (await deadline.isOver()) return discardLate(message, deps)

  const logger = loggerOf(message, deps)
  const fields = () => ({
    command: command.commandId,
    user: command.userId,
    organization: command.organizationId,
    form: command.formRef,
    duration_ms: Math.round((performance.now() - startMs) * 100) / 100,
  })
  try {
    const httpRequestId = message.headers?.get(requestIdHeader) ?? ''
    const delivery = { assertInTime: deadline.assertNotOver, httpRequestId }
    const form = await deps.turns.run(flowOf(command), () => publish(command, deps, delivery))
    reply(message, toFormPublished(form, deps.publicFormBaseUrl), deps)
    message.ack()
    logger.info(fields(), 'published')
    return 'published'
  } catch (error) {
    if (error instanceof DeadlineExceeded) return discardLate(message, deps)
    return settleFailure(message, error, deadline, fields(), logger, deps)
  }
}

/**
 * Replies and acks where a redelivery cannot help or would be late, else naks. After an unexpected error, a command
 * whose redelivery would be late becomes a dead letter, and its caller gets the error in time.
 */
const settleFailure = async (
  message: JsMsg,
  error: unknown,
  deadline: Deadline,
  fields: object,
  logger: FastifyBaseLogger,
  deps: PublishFormDeps,
): Promise<DeliveryOutcome> => {
  const delayMs = retryDelayMs(message.info.deliveryCount)
  const isLate = deadline.isOverIn(delayMs + redeliveryMs)
  if (error instanceof ApiError && !mayPass(error, isLate)) {
    // In this order: a redelivery could publish what its caller corrects after the refusal.
    message.ack()
    replyWithProblem(message, error, deps)
    logger.info({ ...fields, reason: error.reason }, 'refused')
    return 'refused'
  }
  if (!(error instanceof ApiError)) {
    logger.error({ ...fields, err: error }, 'unexpected error')
    if (isLate) {
      replyWithProblem(message, internal(error), deps)
      return deadLetter(message, 'defect', deps)
    }
  } else if (error.status === 'ABORTED') logger.info({ ...fields, reason: error.reason }, 'write conflicts')
  // The outage has a line of its own where it begins (measureStore).
  else logger.debug({ ...fields, reason: error.reason }, 'store unavailable')
  message.nak(delayMs)
  return 'retried'
}

/** Whether a redelivery may succeed. A full disk needs people. What lost to other writes and would be late gets its error. */
const mayPass = ({ status, reason }: ApiError, isLate: boolean) =>
  status === 'ABORTED' ? !isLate : status === 'UNAVAILABLE' && reason !== 'STORAGE_FULL'

const loggerOf = (message: JsMsg, { logger }: PublishFormDeps): FastifyBaseLogger =>
  logger.child({
    request_id: message.headers?.get(requestIdHeader),
    deliveries: message.info.deliveryCount,
    ...traceFields(),
  })

/** Terminates a command past its deadline, without reply and dead letter: its caller no longer waits. */
const discardLate = (message: JsMsg, { logLateCommand }: PublishFormDeps): DeliveryOutcome => {
  message.term('deadline')
  logLateCommand()
  return 'late'
}

/** What a redelivery needs to be handled before its deadline, in milliseconds. */
const redeliveryMs = 250

/** 100 ms, doubled up to 1 s, plus up to half at random: a store that recovers gets commands soon but not all at once. */
const retryDelayMs = (deliveries: number) =>
  Math.round(Math.min(100 * 2 ** (deliveries - 1), 1_000) * (1 + Math.random() / 2))

const decode = (message: JsMsg): PublishForm | Error => {
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

const replyWithProblem = (message: JsMsg, error: ApiError, deps: PublishFormDeps): void =>
  reply(message, { outcome: 'refused', problem: error.toProblem() }, deps)

/** Moves a command that cannot succeed to the dead letter stream. If that fails, only a log line remains. */
const deadLetter = async (
  message: JsMsg,
  reason: string,
  deps: PublishFormDeps,
): Promise<DeliveryOutcome> => {
  try {
    await storeDeadLetter(message, reason, deps)
  } catch (err) {
    loggerOf(message, deps).error({ err, reason }, 'dead letter could not be stored')
  }
  message.term(reason)
  return 'dead'
}

const storeDeadLetter = async (message: JsMsg, reason: string, { nats }: PublishFormDeps): Promise<void> => {
  const copied = headers()
  for (const [key, values] of message.headers ?? []) for (const value of values) copied.append(key, value)
  copied.set(deadLetterReasonHeader, reason)
  const options = { headers: copied, timeout: deadLetterTimeoutMs }
  await jetstream(nats).publish('publish.dead.form', message.data, options)
}
