import type { IssuedApiKey, User } from '../directory-store.ts'
import { userDisabled } from '../errors.ts'
import { hashLoginCode, makeLoginCode } from '../login-code.ts'
import type { DirectoryCollections } from './documents.ts'
import type { MongoOwnKeys } from './own-keys.ts'

/** Creates a login code for a user, and deletes the codes that have expired. */
export const createLoginCode = async (
  { loginCodes }: DirectoryCollections,
  { userId, email, disableTime }: User,
  expireTime: Date,
  now: Date,
): Promise<string> => {
  if (disableTime) throw userDisabled(email)
  const code = makeLoginCode()
  await loginCodes.deleteMany({ expireTime: { $lte: now.getTime() } })
  await loginCodes.insert({ _id: hashLoginCode(code), userId, expireTime: expireTime.getTime() })
  return code
}

/**
 * Claims room for a key, deletes the login code, then stores the key. Of concurrent calls, one deletes the code. A process
 * that is killed in between leaves a used code without a key. A wrong code writes nothing.
 */
export const redeemLoginCode = async (
  { loginCodes, users }: DirectoryCollections,
  keys: MongoOwnKeys,
  code: string,
  key: { name: string; expireTime: Date },
  now: Date,
): Promise<IssuedApiKey | undefined> => {
  const valid = { _id: hashLoginCode(code), expireTime: { $gt: now.getTime() } }
  const found = await loginCodes.findOne(valid)
  if (!found || (await users.has({ _id: found.userId, disableTime: { $ne: null } }))) return undefined
  const fields = { ...key, userId: found.userId, readOnly: false }
  return keys.createIf(fields, () => loginCodes.deleteOne(valid))
}
