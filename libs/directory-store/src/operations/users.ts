import { randomUUID } from 'node:crypto'
import { apiError } from '@fms/aip'
import type { DirectoryStore } from '../directory-store.ts'
import { userNotFound } from '../errors.ts'
import { NewUser, parseInput } from '../inputs.ts'
import { whereUser } from '../references.ts'
import type { User } from '../resources.ts'
import { type Change, insert, update } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, findAll } from '../tables/reading.ts'
import { toUser, type UserRow } from '../tables/rows.ts'

export const userOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    async createUser(newUser) {
      const { email } = parseInput(NewUser, newUser)
      const user = { userId: randomUUID(), email, createTime: now().getTime(), disableTime: null }
      return tables.change(() => createUser(user))
    },

    // Keeps the time of a user who is disabled already.
    disableUser: (ref) => tables.change(() => setDisableTime(ref, (time) => time ?? now().getTime())),

    enableUser: (ref) => tables.change(() => setDisableTime(ref, () => null)),

    /** Indexes: the primary key and the e-mail address. */
    findUser: (ref) =>
      tables.read(function* () {
        const user = yield* find('users', whereUser(ref))
        return user && toUser(user)
      }),

    listUsers: () =>
      tables.read(function* () {
        return (yield* findAll('users', {}, { order: ['createTime', 'email'] })).map(toUser)
      }),
  }) satisfies Partial<DirectoryStore>

function* createUser(user: UserRow): Change<User> {
  const { email } = user
  if (yield* find('users', { email })) throw apiError('EMAIL_TAKEN', { email })
  return { result: toUser(user), writes: [insert('users', user)] }
}

function* setDisableTime(ref: string, next: (disableTime: number | null) => number | null): Change<User> {
  const user = yield* find('users', whereUser(ref))
  if (!user) throw userNotFound(ref)
  const disableTime = next(user.disableTime)
  const fields = disableTime === user.disableTime ? {} : { disableTime }
  return {
    result: toUser({ ...user, disableTime }),
    writes: update('users', { userId: user.userId }, fields),
  }
}
