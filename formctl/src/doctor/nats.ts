import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  deadLetterStream,
  eventsStream,
  publisherConsumer,
  publishStream,
  repliesStream,
  replyCounterConsumer,
} from '@fms/contracts'
import { natsConnectionOptions } from '@fms/service-kit/settings'
import { type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream'
import { connect, type NatsConnection, nanos } from 'nats'
import { type Check, checkClock, fail, ok, reasonOf, warn } from './check.ts'

const timeoutMs = 2_000

export const checkNats = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  try {
    const url = findNatsUrl(env)
    if (url) return await checkServer(url, env)
    const advice = "Set NATS_URL to the operator's URL, or DATA_DIR to the folder of npm start."
    return [warn('nats', 'not checked: NATS_URL is not set, and npm start has not run here', advice)]
  } catch (error) {
    const reason = reasonOf(error)
    return [fail('nats', `formctl cannot connect: ${reason}`, adviceOn(reason, env))]
  }
}

const adviceOn = (reason: string, { NATS_URL }: NodeJS.ProcessEnv): string => {
  if (/timeout/i.test(reason)) return 'The server does not respond: restart it.'
  return NATS_URL
    ? 'Check NATS_URL, its user and password, and that the server runs.'
    : 'Start the system with npm start, or set NATS_URL.'
}

const checkServer = async (url: string, env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const nats = await connect({
    ...natsConnectionOptions(url),
    name: 'formctl',
    timeout: timeoutMs,
    reconnect: false,
  })
  try {
    const server = checkNatsVersion(nats.info!.version)
    if (!nats.info!.jetstream) {
      const advice = "Enable JetStream in the server's configuration (jetstream { store_dir: … })."
      return [server, fail('jetstream', 'is not enabled', advice)]
    }
    return [server, ...(await checkJetStream(nats, env))]
  } finally {
    await nats.close()
  }
}

/** The oldest release that stores events in atomic batches. */
const oldestNats = '2.12'

export const checkNatsVersion = (version: string): Check => {
  const message = `nats-server ${version} responds`
  if (version.localeCompare(oldestNats, 'en', { numeric: true }) >= 0) return ok('nats', message)
  const advice = `Upgrade it to ${oldestNats} or newer; docker-compose.yml names the release that is tested.`
  return warn('nats', `${message}; it is older than ${oldestNats}, and streams events one by one`, advice)
}

/** Checks the streams and consumers that publishing, relaying events and counting replies use. */
const checkJetStream = async (nats: NatsConnection, env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: timeoutMs })
  const requestedMs = Date.now()
  const publish = await checkStream(manager, publishStream.name, 'publisher')
  if (!publish.time) return [publish.check]
  return [
    publish.check,
    checkClock('the NATS server', publish.time, requestedMs, Date.now()),
    await checkAccount(manager),
    await checkConsumer(manager, publishStream.name, publisherConsumer, 'publisher'),
    await checkDeadLetters(manager),
    await checkEventsStream(manager, env),
    (await checkStream(manager, repliesStream.name, 'forms')).check,
    await checkConsumer(manager, repliesStream.name, replyCounterConsumer, 'forms'),
  ]
}

const checkAccount = async (manager: JetStreamManager): Promise<Check> => {
  try {
    const { storage, limits } = await manager.getAccountInfo()
    return checkNatsRoom(storage, limits.max_storage)
  } catch (error) {
    return failureOf('room of NATS', 'publisher', error)
  }
}

const fullAt = 0.8

/** @param limit bytes that the account may store; negative for those of the disk, which NATS does not report. */
export const checkNatsRoom = (bytes: number, limit: number): Check => {
  const check = 'room of NATS'
  const inMebibytes = (count: number) => `${Math.ceil(count / 1024 ** 2).toLocaleString('en')} MiB`
  if (limit < 0) return ok(check, `streams have ${inMebibytes(bytes)}; the disk is the limit`)
  const message = `streams have ${inMebibytes(bytes)} of ${inMebibytes(limit)}`
  if (bytes < fullAt * limit) return ok(check, message)
  const advice =
    "Raise the account's max_storage, or lower EVENTS_STREAM_BYTES. Without room, publishes get 503."
  return warn(check, message, advice)
}

const checkStream = async (
  manager: JetStreamManager,
  stream: string,
  service: string,
): Promise<{ check: Check; messages?: number; time?: Date; config?: StreamConfig }> => {
  const check = `stream ${stream}`
  try {
    const info = await manager.streams.info(stream)
    // The time of the response, since nats-server 2.10.
    const { ts } = info as { ts?: unknown }
    const { messages } = info.state
    return {
      check: ok(check, `exists, ${messages} messages`),
      messages,
      time: new Date(typeof ts === 'string' ? ts : Date.now()),
      config: info.config,
    }
  } catch (error) {
    return { check: failureOf(check, service, error) }
  }
}

/** Also warns if the limits of the stream are not those of the variables, as far as these are set here. */
const checkEventsStream = async (manager: JetStreamManager, env: NodeJS.ProcessEnv): Promise<Check> => {
  const { check, config } = await checkStream(manager, eventsStream.name, 'publisher')
  if (check.status === 'fail') return { ...check, advice: `${check.advice} ${tooLargeAdvice}` }
  if (!config) return check
  const differences = [
    differenceOf(env, 'EVENTS_STREAM_BYTES', config.max_bytes),
    differenceOf(env, 'EVENTS_STREAM_DAYS', config.max_age / nanos(dayMs)),
    differenceOf(env, 'EVENTS_STREAM_PER_TYPE', config.max_msgs_per_subject),
  ].filter((difference) => difference !== undefined)
  if (differences.length === 0) return check
  const advice = `Publishers apply these variables when they start. ${tooLargeAdvice}`
  return warn(check.check, `${check.message}; ${differences.join(', ')}`, advice)
}

const dayMs = 86_400_000

const tooLargeAdvice =
  'If their log says that events cannot be streamed, NATS may have less space than EVENTS_STREAM_BYTES: set it lower.'

const differenceOf = (env: NodeJS.ProcessEnv, name: string, actual: number): string | undefined => {
  const given = env[name]
  return given && Number(given) !== actual ? `${name} is ${given}, but the stream has ${actual}` : undefined
}

const checkConsumer = async (
  manager: JetStreamManager,
  stream: string,
  consumer: string,
  service: string,
): Promise<Check> => {
  const check = `consumer ${consumer}`
  try {
    const { num_pending: waiting, num_waiting: pulls } = await manager.consumers.info(stream, consumer)
    const message = `exists, ${waiting} messages wait`
    if (waiting === 0 || pulls > 0) return ok(check, message)
    const advice = `Start the ${service} service, or more instances of it.`
    return warn(check, `${message} and no consumer pulls them`, advice)
  } catch (error) {
    return failureOf(check, service, error)
  }
}

const checkDeadLetters = async (manager: JetStreamManager): Promise<Check> => {
  const { check, messages } = await checkStream(manager, deadLetterStream.name, 'publisher')
  if (!messages) return check
  return warn(
    check.check,
    `${messages} publish commands were discarded; they are kept for 30 days`,
    'Their headers contain the reason (nats stream view PUBLISH_DEAD). The callers received an error.',
  )
}

/** A missing stream or consumer fails; without the right to inspect it, the check is skipped with a warning. */
const failureOf = (check: string, service: string, error: unknown): Check => {
  const reason = reasonOf(error)
  if (/not found/.test(reason)) {
    return fail(check, 'does not exist', `The ${service} service creates it when it starts: is it running?`)
  }
  return warn(
    check,
    `not checked: ${reason}`,
    'The user of NATS_URL may lack the right to inspect it. Use the operator.',
  )
}

interface EmbeddedConfig {
  port: number
  authorization: { users: { user: string; password: string }[] }
}

/** `NATS_URL`, or else that of the operator of `npm start`, who may inspect streams; undefined if there is neither. */
const findNatsUrl = ({ NATS_URL, DATA_DIR }: NodeJS.ProcessEnv): string | undefined => {
  if (NATS_URL) return NATS_URL
  try {
    const file = join(DATA_DIR || '.data', 'nats', 'nats-server.conf')
    const { port, authorization }: EmbeddedConfig = JSON.parse(readFileSync(file, 'utf8'))
    const operator = authorization.users.find(({ user }) => user === 'operator')!
    return `nats://operator:${encodeURIComponent(operator.password)}@127.0.0.1:${port}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
