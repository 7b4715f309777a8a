import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keepSecret, replaceSecret } from './keep-secret.ts'

/** Makes a stream, looks at it and brings it up to date; neither empties nor deletes it. */
const keepStream = (stream: string) =>
  ['INFO', 'CREATE', 'UPDATE'].map((verb) => `$JS.API.STREAM.${verb}.${stream}`)

/** Makes a consumer, looks at it, takes its messages and settles them; does not delete it. */
const consume = (stream: string, consumer: string) => [
  ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map(
    (verb) => `$JS.API.CONSUMER.${verb}.${stream}.${consumer}`,
  ),
  `$JS.ACK.${stream}.${consumer}.>`,
]

/**
 * Who may say and hear what on NATS: one user per service, nothing beyond what it needs.
 *
 * A publish command is believed because the gateway alone may send it. Each user has an inbox prefix of its own
 * (`inboxPrefix` in nats.js), so that nobody hears the replies to another.
 */
export const natsUsers = {
  gateway: {
    publish: ['publish.form', 'gateway.requests-counted', '_INBOX.publisher.>'],
    subscribe: ['_INBOX.gateway.>', 'gateway.requests-counted'],
  },
  publisher: {
    publish: [
      '$JS.API.INFO',
      ...keepStream('PUBLISH'),
      ...keepStream('PUBLISH_DEAD'),
      ...consume('PUBLISH', 'publisher'),
      '_INBOX.gateway.>',
      'publish.dead.>',
      'publish.probe',
    ],
    subscribe: ['_INBOX.publisher.>'],
  },
  forms: {
    publish: ['$JS.API.INFO', ...keepStream('REPLIES'), ...consume('REPLIES', 'reply-counter')],
    subscribe: ['_INBOX.forms.>'],
  },
  /** The respondents' side, which records replies. It is not part of this system; tests take its place. */
  replies: { publish: ['forms.reply-recorded'], subscribe: ['_INBOX.replies.>'] },
  /** For people, formctl doctor and tests, and for no service: streams and consumers, but no message of ours. */
  operator: { publish: ['$JS.API.>'], subscribe: ['_INBOX.operator.>'] },
}

export type NatsUser = keyof typeof natsUsers

export type NatsPasswords = Record<NatsUser, string>

/** The passwords, made at the first start and kept in `folder`. A user that came later gets one, too. */
export function keepPasswords(folder: string): NatsPasswords {
  const make = () => forEveryUser(() => randomBytes(32).toString('base64url'))
  const file = join(folder, 'passwords.json')
  const kept: Partial<NatsPasswords> = JSON.parse(keepSecret(file, () => JSON.stringify(make())))
  const all = { ...make(), ...kept }
  if (Object.keys(all).length > Object.keys(kept).length) replaceSecret(file, JSON.stringify(all))
  return all
}

/** The users as the server's configuration wants them. Without `no_auth_user`, anonymous clients are refused. */
export function authorization(passwords: NatsPasswords) {
  const users = forEveryUser((user) => {
    const { publish, subscribe } = natsUsers[user]
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } }
    return { user, password: passwords[user], permissions }
  })
  return { users: Object.values(users) }
}

/** `nats://user:password@127.0.0.1:port` of every user. */
export function natsUrls(passwords: NatsPasswords, port: number): Record<NatsUser, string> {
  return forEveryUser((user) => `nats://${user}:${passwords[user]}@127.0.0.1:${port}`)
}

export function forEveryUser<T>(make: (user: NatsUser) => T): Record<NatsUser, T> {
  const users = Object.keys(natsUsers) as NatsUser[]
  return Object.fromEntries(users.map((user) => [user, make(user)])) as Record<NatsUser, T>
}
