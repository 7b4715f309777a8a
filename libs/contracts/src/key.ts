import { z } from 'zod'
import { Organization, Role } from './organization.ts'
import { Flag, ValidateOnly, ValidateOnlyParameter } from './parts/flag.ts'
import { pageShape } from './parts/page.ts'
import { Uuid } from './resource-names.ts'
import { displayName, Timestamp, text } from './text.ts'

/** The format of an API key: `fms_` and 32 bytes as base64url. */
export const API_KEY_PATTERN = /^fms_[A-Za-z0-9_-]{43}$/

/** A user with this many live keys (neither revoked nor expired) can create none. Keys by operators may exceed it. */
export const maxLiveKeys = 100

/** The longest overlap of a rotation, in seconds: 7 days. */
const maxOverlapSeconds = 7 * 24 * 60 * 60
const overlapError = { error: `must be an integer from 0 to ${maxOverlapSeconds}` }

/** The name of the keys that a sign-in with a login code creates. */
export const sessionKeyName = 'Console'

/** How long the key of a session is valid, in milliseconds: 12 hours. */
export const sessionLifetimeMs = 12 * 60 * 60_000

/** How long a login code is valid, in milliseconds: 15 minutes. */
export const loginCodeLifetimeMs = 15 * 60_000

/** The resource name of an API key: `keys/{keyId}` (AIP-122). */
export const keyPath = (keyId: string) => `keys/${keyId}`

/** The resource name of a user: `users/{userId}` (AIP-122). */
export const userPath = (userId: string) => `users/${userId}`

/** A time, or `""` for none. */
const OptionalTimestamp = z
  .string()
  .refine((value) => value === '' || Timestamp.safeParse(value).success, { error: 'must be a time or empty' })

/** The resource name of a user. */
export const UserPath = z.string().regex(/^users\/[0-9a-f-]{36}$/, { error: 'must be users/ and a UUID' })

/** A live API key of the caller, without its secret. Every response has all fields. */
export const Key = z
  .strictObject({
    path: z
      .string()
      .regex(/^keys\/[0-9a-f-]{36}$/)
      .describe('`keys/{key_id}`'),
    name: text(80).describe('For people. `""` if an operator created the key without a name.'),
    prefix: z.string().describe('The first 8 characters of the secret after `fms_`, to tell keys apart.'),
    readOnly: z.boolean().describe('Whether the key rejects writes, whatever the role of its user.'),
    createTime: Timestamp,
    lastUsedTime: OptionalTimestamp.describe('Accurate to a minute; `""` before the first use.'),
    expireTime: OptionalTimestamp.describe('When the key stops working; `""` if it does not expire.'),
    current: z.boolean().describe('Whether it is the key of this request.'),
  })
  .meta({ id: 'Key', description: 'A live API key of the caller, without its secret.' })
export type Key = z.infer<typeof Key>

/** A new key and its secret: the response to a create and a rotation. */
export const IssuedKey = z
  .strictObject({
    key: Key,
    secret: z
      .string()
      .describe('The text for `x-api-key`. Only its hash is stored: it cannot be shown again.'),
  })
  .meta({ id: 'IssuedKey', description: 'A new API key and its secret, which is shown this once.' })
export type IssuedKey = z.infer<typeof IssuedKey>

export const User = z
  .strictObject({
    path: UserPath.describe('`users/{user_id}`'),
    email: z.string().describe('In lower case.'),
    createTime: Timestamp,
  })
  .meta({ id: 'User', description: 'A person who acts through API keys.' })
export type User = z.infer<typeof User>

/** The response to a sign-in: the key of the session, and its user. */
export const Session = z.strictObject({ ...IssuedKey.shape, user: User }).meta({
  id: 'Session',
  description: 'The key of a session, its secret, which is shown this once, and its user.',
})
export type Session = z.infer<typeof Session>

export const Membership = z
  .strictObject({ organization: Organization, role: Role })
  .meta({ id: 'Membership', description: 'An organization of the caller, and the role in it.' })

/** The caller of a request: the user, the key, and all organizations in the order in which the user joined them. */
export const Whoami = z
  .strictObject({
    user: User,
    key: Key,
    memberships: z.array(Membership).describe('In the order in which the memberships began.'),
  })
  .meta({ id: 'Whoami', description: 'The caller: user, key and memberships.' })
export type Whoami = z.infer<typeof Whoami>

/** A page of the caller's keys, newest first. */
export const ListKeysResponse = z
  .strictObject({ ...pageShape, keys: z.array(Key) })
  .meta({ id: 'KeysPage', description: 'A page of keys, newest first.' })
export type ListKeysResponse = z.infer<typeof ListKeysResponse>

/** RFC 3339 date-time with any offset, or `""` for none. Years have four digits, also in UTC. */
const ExpireTime = z
  .string()
  .toUpperCase()
  .refine((value) => value === '' || isRfc3339(value), {
    error:
      'must be an RFC 3339 time with offset, before the year 10000 in UTC, such as 2126-11-20T09:30:00Z; or empty',
  })

/** Whether a text in upper case is such a time. */
export const isRfc3339 = (value: string): boolean =>
  /T\d\d:\d\d:\d\d/.test(value) &&
  z.iso.datetime({ offset: true }).safeParse(value).success &&
  Timestamp.safeParse(new Date(value).toISOString()).success

/** A member that the service sets: accepted in a create, so that clients may send what they have read (AIP-203). */
const ignored = z.unknown().optional().describe('Ignored: the service sets it.')

const NewKey = z
  .strictObject({
    name: displayName(80).describe('For people; not only white space.'),
    readOnly: Flag.default(false).describe('Whether the key rejects writes, whatever the role of its user.'),
    expireTime: ExpireTime.optional().describe(
      'When the key stops working, RFC 3339. Default: `""`, it does not expire. Required if the key of the request expires; then it must not be later than the `expireTime` of that key.',
    ),
    path: ignored,
    prefix: ignored,
    createTime: ignored,
    lastUsedTime: ignored,
    current: ignored,
  })
  .meta({ id: 'NewKey' })

const KeyRequestId = Uuid.optional().describe(
  'Makes retries safe (AIP-155): a second request with the same id creates no second key. It is a 409 that names the first key, whose secret cannot be shown again. Unique for the user over creates and rotations, letter case ignored.',
)

export const CreateKeyRequest = z
  .strictObject({
    key: NewKey,
    validateOnly: ValidateOnly,
    requestId: KeyRequestId,
  })
  .meta({ id: 'CreateKeyRequest' })

export const RotateKeyRequest = z
  .strictObject({
    overlapSeconds: z
      .int(overlapError)
      .min(0, overlapError)
      .max(maxOverlapSeconds, overlapError)
      .default(0)
      .describe(
        'How long the old key still works, in seconds; at most 7 days. 0 revokes it. Must be 0 if the calling key is read-only.',
      ),
    validateOnly: ValidateOnly,
    requestId: KeyRequestId,
  })
  .meta({ id: 'RotateKeyRequest' })
  .prefault({})

export const DeleteKeyRequest = z
  .strictObject({ validateOnly: ValidateOnly.unwrap().optional() })
  .meta({ id: 'DeleteKeyRequest' })
  .prefault({})
export type DeleteKeyRequest = z.infer<typeof DeleteKeyRequest>

export const DeleteKeyQuery = z.strictObject({ validateOnly: ValidateOnlyParameter })
export type DeleteKeyQuery = z.infer<typeof DeleteKeyQuery>

/** Body of a sign-in. A code in a wrong format is a wrong code, so only the type is checked. */
export const CreateSessionRequest = z
  .strictObject({
    code: z.string().describe('The one-time code of a login link: `formctl user login-link`.'),
    validateOnly: ValidateOnly,
  })
  .meta({ id: 'CreateSessionRequest' })
