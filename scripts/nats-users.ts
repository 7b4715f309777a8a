import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keepSecret } from './data-dir.ts'

/**
 * Who may say and hear what on NATS: one user per service, nothing beyond what it needs.
 *
 * A publish command is believed because the gateway alone may send it. Each user has an inbox prefix of its own
 * (`inboxPrefix` in nats.js), so that nobody hears the replies to another.
 */
export const natsUsers = {
  gateway: { publish: ['publish.form'], subscribe: ['_INBOX.gateway.>'] },
  publisher: {
    publish: ['$JS.API.>', '$JS.ACK.>', '_INBOX.gateway.>', 'publish.dead.>'],
    subscribe: ['_INBOX.publisher.>'],
  },
  forms: { publish: ['$JS.API.>', '$JS.ACK.>'], subscribe: ['_INBOX.forms.>'] },
  /** The respondents' side, which records replies. It is not part of this system; tests take its place. */
  replies: { publish: ['forms.reply-recorded'], subscribe: ['_INBOX.replies.>'] },
}

export type NatsUser = keyof typeof natsUsers

export type NatsPasswords = Record<NatsUser, string>

/** The passwords, made at the first start and kept in `folder`. */
export function keepPasswords(folder: string): NatsPasswords {
  const make = () => everyUser(() => randomBytes(32).toString('base64url'))
  return JSON.parse(keepSecret(join(folder, 'passwords.json'), () => JSON.stringify(make())))
}

/** The users as the server's configuration wants them. Without `no_auth_user`, anonymous clients are refused. */
export function authorization(passwords: NatsPasswords) {
  const users = everyUser((user) => {
    const { publish, subscribe } = natsUsers[user]
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } }
    return { user, password: passwords[user], permissions }
  })
  return { users: Object.values(users) }
}

/** `nats://user:password@127.0.0.1:port` of every user. */
export function natsUrls(passwords: NatsPasswords, port: number): Record<NatsUser, string> {
  return everyUser((user) => `nats://${user}:${passwords[user]}@127.0.0.1:${port}`)
}

export function everyUser<T>(make: (user: NatsUser) => T): Record<NatsUser, T> {
  const users = Object.keys(natsUsers) as NatsUser[]
  return Object.fromEntries(users.map((user) => [user, make(user)])) as Record<NatsUser, T>
}
