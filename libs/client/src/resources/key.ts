import type { Organization } from './organization.ts'

/** A live API key of the user, without its secret. */
export interface Key {
  /** `keys/{key_id}` */
  path: string
  /** For people. `""` for some keys of operators. */
  name: string
  /** The first 8 characters of the secret after `fms_`, to tell keys apart. */
  prefix: string
  /** Whether the key rejects writes, whatever the role of its user. */
  readOnly: boolean
  /** RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** Accurate to a minute; `""` before the first use. */
  lastUsedTime: string
  /** When the key stops working; `""` if it does not expire. */
  expireTime: string
  /** Whether it is the key of the client. */
  current: boolean
}

/** The members of a new key. */
export interface KeyInput {
  /** For people; 1 to 80 characters. */
  name: string
  /** Default: false. */
  readOnly?: boolean
  /** When the key stops working, RFC 3339; default: never. Not later than the key of the client. */
  expireTime?: string
}

/** A new key and its secret, which is shown this once. */
export interface IssuedKey {
  key: Key
  /** The `apiKey` of a client. `""` in a dry run. */
  secret: string
}

/** A person who acts through API keys. */
export interface User {
  /** `users/{user_id}` */
  path: string
  /** In lower case. */
  email: string
  /** RFC 3339, UTC, with milliseconds. */
  createTime: string
}

/** The role of a member. A viewer reads; editors and owners also write and publish. */
export type Role = 'viewer' | 'editor' | 'owner'

/** An organization of the user, and the user's role in it. */
export interface Membership {
  organization: Organization
  role: Role
}

/** The user and the key of a client. */
export interface Whoami {
  user: User
  key: Key
  /** In the order in which the user joined them. */
  memberships: Membership[]
}
