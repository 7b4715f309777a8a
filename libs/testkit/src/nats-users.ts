import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readOrCreateSecret, writeSecret } from './secret-file.ts'

/** Rights to create, inspect and update a stream, but not to purge or delete it. */
const manageStream = (stream: string) =>
  ['INFO', 'CREATE', 'UPDATE'].map((verb) => `$JS.API.STREAM.${verb}.${stream}`)

/** Rights to create and inspect a consumer, to pull its messages and to ack them, but not to delete it. */
const consume = (stream: string, consumer: string) => [
  ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map(
    (verb) => `$JS.API.CONSUMER.${verb}.${stream}.${consumer}`,
  ),
  `$JS.ACK.${stream}.${consumer}.>`,
]

/**
 * Rights to read a stream with consumers of one's own, ephemeral and durable ones that pull, but not to change the stream.
 * A client names a consumer with one filter as `{stream}.{consumer}.{filter}`.
 */
const read = (stream: string) => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  ...['DURABLE.CREATE', 'INFO', 'MSG.NEXT', 'DELETE'].map((verb) => `$JS.API.CONSUMER.${verb}.${stream}.*`),
  `$JS.ACK.${stream}.>`,
]

/**
 * Subjects that each NATS user may publish and subscribe to: one user per service, with the least rights that it needs.
 *
 * The publisher trusts publish commands because only the gateway may publish them. Each user has its own inbox prefix
 * (`inboxPrefix` in nats.js), so that no user can read the replies to another.
 */
export const natsUsers = {
  gateway: {
    publish: ['publish.form', 'gateway.requests-counted', '_INBOX.publisher.>'],
    subscribe: ['_INBOX.gateway.>', 'gateway.requests-counted'],
  },
  publisher: {
    publish: [
      '$JS.API.INFO',
      ...manageStream('PUBLISH'),
      ...manageStream('PUBLISH_DEAD'),
      ...manageStream('EVENTS'),
      ...consume('PUBLISH', 'publisher'),
      '_INBOX.gateway.>',
      'publish.dead.>',
      'publish.probe',
      'events.*.form.*',
    ],
    subscribe: ['_INBOX.publisher.>', 'events.recorded'],
  },
  forms: {
    publish: [
      '$JS.API.INFO',
      ...manageStream('REPLIES'),
      ...consume('REPLIES', 'reply-counter'),
      'events.recorded',
    ],
    subscribe: ['_INBOX.forms.>'],
  },
  /** The service that records the replies of respondents. It is not part of this system; tests stand in for it. */
  replies: { publish: ['forms.reply-recorded'], subscribe: ['_INBOX.replies.>'] },
  /** For readers of form events, which are not part of this system: may read EVENTS and nothing else. */
  events: { publish: ['$JS.API.INFO', ...read('EVENTS')], subscribe: ['_INBOX.events.>'] },
  /** For people, formctl doctor and tests: may manage streams and consumers, but not publish messages to services. */
  operator: { publish: ['$JS.API.>'], subscribe: ['_INBOX.operator.>'] },
}

export type NatsUser = keyof typeof natsUsers

export type NatsPasswords = Record<NatsUser, string>

/** Passwords of all users, created at the first start in `folder`. Users of a later release get a password, too. */
export function readOrCreatePasswords(folder: string): NatsPasswords {
  const create = () => forEveryUser(() => randomBytes(32).toString('base64url'))
  const file = join(folder, 'passwords.json')
  const existing: Partial<NatsPasswords> = readOrCreateSecret(
    file,
    () => JSON.stringify(create()),
    JSON.parse,
  )
  const all = { ...create(), ...existing }
  if (Object.keys(all).length > Object.keys(existing).length) writeSecret(file, JSON.stringify(all))
  return all
}

/** The `authorization` block of nats-server's configuration. Without `no_auth_user`, anonymous clients are rejected. */
export function authorization(passwords: NatsPasswords) {
  const users = forEveryUser((user) => {
    const { publish, subscribe } = natsUsers[user]
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } }
    return { user, password: passwords[user], permissions }
  })
  return { users: Object.values(users) }
}

/** `nats://user:password@127.0.0.1:port` for each user. */
export function natsUrls(passwords: NatsPasswords, port: number): Record<NatsUser, string> {
  return forEveryUser((user) => `nats://${user}:${passwords[user]}@127.0.0.1:${port}`)
}

export function forEveryUser<T>(make: (user: NatsUser) => T): Record<NatsUser, T> {
  const users = Object.keys(natsUsers) as NatsUser[]
  return Object.fromEntries(users.map((user) => [user, make(user)])) as Record<NatsUser, T>
}
