import { describe } from 'vitest'
import { authorizeContract } from './contract/authorize.ts'
import { closedContract } from './contract/closed.ts'
import { type OpenStore, openDirectory } from './contract/given.ts'
import type { EngineLimits } from './contract/hostile-filters.ts'
import { keysContract } from './contract/keys.ts'
import { listsContract } from './contract/lists.ts'
import { membersContract } from './contract/members.ts'
import { organizationChangesContract } from './contract/organization-changes.ts'
import { organizationsContract } from './contract/organizations.ts'
import { recordsContract } from './contract/records.ts'
import { usersContract } from './contract/users.ts'

/**
 * What every directory store promises.
 *
 * @param open an empty store whose createTimes come from `now`.
 */
export const directoryStoreContract = (name: string, open: OpenStore, limits: EngineLimits = {}): void => {
  describe(`the directory store on ${name}`, () => {
    const directory = openDirectory(open)
    usersContract(directory)
    organizationsContract(directory)
    organizationChangesContract(directory)
    membersContract(directory)
    keysContract(directory)
    authorizeContract(directory)
    listsContract(directory, limits)
    recordsContract(directory, open)
    closedContract(directory)
  })
}
