import { describe } from 'vitest'
import { authorizeContract } from './contract/authorize.ts'
import { closedContract } from './contract/closed.ts'
import { type ContractOptions, type OpenStore, openDirectory } from './contract/given.ts'
import { keysContract } from './contract/keys.ts'
import { listsContract } from './contract/lists.ts'
import { loginCodesContract } from './contract/login-codes.ts'
import { membersContract } from './contract/members.ts'
import { organizationChangesContract } from './contract/organization-changes.ts'
import { organizationsContract } from './contract/organizations.ts'
import { ownKeysContract } from './contract/own-keys.ts'
import { recordsContract } from './contract/records.ts'
import { usersContract } from './contract/users.ts'

/**
 * The contract that every directory store fulfils, as tests.
 *
 * @param name of the engine, for the titles of the tests.
 * @param open opens an empty store.
 */
export const directoryStoreContract = (
  name: string,
  open: OpenStore,
  options: ContractOptions = {},
): void => {
  describe(`the directory store on ${name}`, () => {
    const directory = openDirectory(open)
    usersContract(directory)
    organizationsContract(directory)
    organizationChangesContract(directory)
    membersContract(directory)
    keysContract(directory)
    ownKeysContract(directory)
    loginCodesContract(directory)
    authorizeContract(directory)
    listsContract(directory, options)
    recordsContract(directory, open)
    closedContract(directory)
  })
}
