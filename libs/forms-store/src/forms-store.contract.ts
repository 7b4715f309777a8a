import { describe } from 'vitest'
import { draftsContract } from './contract/drafts.ts'
import { filtersContract } from './contract/filters.ts'
import type { OpenStore } from './contract/given.ts'
import type { EngineLimits } from './contract/hostile-names.ts'
import { listsContract } from './contract/lists.ts'
import { quotasContract } from './contract/quotas.ts'
import { recordsContract } from './contract/records.ts'
import { repliesContract } from './contract/replies.ts'
import { revisionsContract } from './contract/revisions.ts'
import { tenantsContract } from './contract/tenants.ts'

/**
 * What every forms store promises.
 *
 * @param open the store; it may hold what earlier tests left.
 */
export const formsStoreContract = (name: string, open: OpenStore, limits: EngineLimits = {}): void => {
  describe(`the forms store on ${name}`, () => {
    describe('of drafts', () => draftsContract(open))
    describe('of lists', () => listsContract(open, limits))
    describe('of filters', () => filtersContract(open, limits))
    describe('of revisions', () => revisionsContract(open))
    describe('of replies', () => repliesContract(open))
    describe('of records', () => recordsContract(open))
    describe('of quotas', () => quotasContract(open))
    describe('of tenants', () => tenantsContract(open))
  })
}
