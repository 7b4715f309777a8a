import { randomBytes } from 'node:crypto'
import { apiError } from '@fms/aip'
import { hashSecret } from '../api-key.ts'
import type { DirectoryStore } from '../directory-store.ts'
import { userNotFound } from '../errors.ts'
import { whereUser } from '../references.ts'
import type { IssuedApiKey, User } from '../resources.ts'
import { type Change, insert, remove } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find } from '../tables/reading.ts'
import { toUser } from '../tables/rows.ts'
import { changeOrCheck, issueOwnKey } from './own-keys.ts'

export const loginCodeOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    createLoginCode: (userRef, expireTime) =>
      tables.change(() => createLoginCode(userRef, expireTime, now())),

    /** A wrong code costs one read. */
    async redeemLoginCode(code, key, options) {
      const hash = hashSecret(code)
      if (!(await tables.read(() => find('loginCodes', { hash })))) return undefined
      return changeOrCheck(tables, () => redeemLoginCode(hash, key, now()), options)
    },
  }) satisfies Partial<DirectoryStore>

/** Also deletes the codes that have expired. */
function* createLoginCode(userRef: string, expireTime: Date, now: Date): Change<string> {
  const user = yield* find('users', whereUser(userRef))
  if (!user) throw userNotFound(userRef)
  const { userId, email, disableTime } = user
  if (disableTime !== null) throw apiError('USER_DISABLED', { user: email })
  const code = makeLoginCode()
  return {
    result: code,
    writes: [
      remove('loginCodes', { expireTime: { atMost: now.getTime() } }),
      insert('loginCodes', { hash: hashSecret(code), userId, expireTime: expireTime.getTime() }),
    ],
  }
}

function* redeemLoginCode(
  hash: string,
  key: { name: string; expireTime: Date },
  now: Date,
): Change<(IssuedApiKey & { user: User }) | undefined> {
  const found = yield* find('loginCodes', { hash })
  const user = found && (yield* find('users', { userId: found.userId }))
  if (!user || user.disableTime !== null || found.expireTime <= now.getTime()) {
    return { result: undefined, writes: [] }
  }
  const { result, writes } = yield* issueOwnKey({ ...key, userId: user.userId, readOnly: false }, now)
  return { result: { ...result, user: toUser(user) }, writes: [remove('loginCodes', { hash }), ...writes] }
}

/** Creates a login code with 256 random bits. */
const makeLoginCode = (): string => randomBytes(32).toString('base64url')
