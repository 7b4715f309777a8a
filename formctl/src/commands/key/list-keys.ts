import type { ApiKey, DirectoryStore, User } from '@fms/directory-store'
import type { Command } from 'commander'
import { withApiOr } from '../../api/api.ts'
import { addExamples } from '../../cli/examples.ts'
import type { Outcome } from '../../cli/outcome.ts'
import { shortTime } from '../../cli/table.ts'
import { withDirectory } from '../../stores/with-directory.ts'
import { listKeysByApi } from './keys-by-api.ts'

export const addListKeysCommand = (key: Command): void => {
  const list = key
    .command('list')
    .description('list all API keys, oldest first; with FORMS_API_URL your own live keys, newest first')
    .action(withApiOr(withDirectory(listAllKeys), [], listKeysByApi))
  addExamples(list, 'key list', 'key list --json')
}

const listAllKeys = async (directory: DirectoryStore): Promise<Outcome> => {
  const [keys, users] = await Promise.all([directory.listKeys(), directory.listUsers()])
  const owners = new Map(users.map((user) => [user.userId, user]))
  return {
    json: { keys: keys.map(({ keyId, ...rest }) => ({ id: keyId, ...rest })) },
    text: 'There are no API keys.',
    table: {
      columns: ['id', 'key', 'user', 'name', 'state', 'created', 'last used'],
      rows: keys.map((key) => [
        key.keyId,
        `fms_${key.prefix}…`,
        owners.get(key.userId)?.email,
        key.name,
        stateOf(key, owners.get(key.userId), new Date()),
        shortTime(key.createTime),
        shortTime(key.lastUsedTime),
      ]),
    },
  }
}

/** What a key may do, or why it no longer works. */
const stateOf = ({ readOnly, expireTime, revokeTime }: ApiKey, user: User | undefined, now: Date): string => {
  if (revokeTime) return `revoked ${shortTime(revokeTime)}`
  if (expireTime && expireTime <= now) return `expired ${shortTime(expireTime)}`
  if (user?.disableTime) return `user disabled ${shortTime(user.disableTime)}`
  const rights = readOnly ? 'reads' : 'reads, writes'
  return expireTime ? `${rights} until ${shortTime(expireTime)}` : rights
}
