import type { SqliteDatabase } from '@fms/store-kit'
import type { IssuedApiKey, User } from '../directory-store.ts'
import { userDisabled } from '../errors.ts'
import { hashLoginCode, makeLoginCode } from '../login-code.ts'
import type { SqliteOwnKeys } from './own-keys.ts'

/** Creates a login code for a user, and deletes the codes that have expired. */
export const createLoginCode = async (
  database: SqliteDatabase,
  { userId, email, disableTime }: User,
  expireTime: Date,
  now: Date,
): Promise<string> => {
  if (disableTime) throw userDisabled(email)
  const code = makeLoginCode()
  await database.write(() => {
    database.run('DELETE FROM loginCodes WHERE expireTime <= ?', now.getTime())
    database.insert('loginCodes', { hash: hashLoginCode(code), userId, expireTime: expireTime.getTime() })
  })
  return code
}

/** Deletes a login code and creates a key in one transaction. A wrong code takes no write lock. */
export const redeemLoginCode = async (
  database: SqliteDatabase,
  keys: SqliteOwnKeys,
  code: string,
  key: { name: string; expireTime: Date },
  now: Date,
): Promise<IssuedApiKey | undefined> => {
  const hash = hashLoginCode(code)
  const findUserId = () =>
    database.get(
      `SELECT loginCodes.userId FROM loginCodes JOIN users USING (userId)
       WHERE loginCodes.hash = ? AND loginCodes.expireTime > ? AND users.disableTime IS NULL`,
      hash,
      now.getTime(),
    )?.userId as string | undefined
  if (findUserId() === undefined) return undefined
  return database.write(() => {
    const userId = findUserId()
    if (userId === undefined) return undefined
    keys.assertRoom(userId)
    database.run('DELETE FROM loginCodes WHERE hash = ?', hash)
    return keys.insert({ ...key, userId, readOnly: false })
  })
}
