import { describe } from 'vitest'
import { draftsContract } from './drafts.ts'
import { concurrentEventsContract } from './events/concurrent-events.ts'
import { eventLogsContract } from './events/event-logs.ts'
import { recordedEventsContract } from './events/recorded-events.ts'
import { filtersContract } from './filters.ts'
import { formIdsContract } from './form-ids.ts'
import type { OpenStore, OpenStoreTogether } from './given.ts'
import type { EngineLimits } from './hostile-names.ts'
import { listsContract } from './lists.ts'
import { pruneContract } from './prune.ts'
import { quotasContract } from './quotas.ts'
import { recordsContract } from './records.ts'
import { repliesContract } from './replies.ts'
import { requestIdsContract } from './request-ids.ts'
import { revisionsContract } from './revisions.ts'
import { summariesContract } from './summaries.ts'
import { tenantsContract } from './tenants.ts'
import { undeleteContract } from './undelete.ts'
import { unpublishContract } from './unpublish.ts'

/**
 * The tests that every adapter of the FormsStore port passes.
 *
 * @param open opens the store, which may contain data of earlier tests.
 * @param openSame opens the same store each time.
 */
export const formsStoreContract = (
  name: string,
  open: OpenStore,
  openTogether: OpenStoreTogether,
  limits: EngineLimits = {},
  openSame: OpenStore = open,
): void => {
  describe(`the forms store on ${name}`, () => {
    describe('of drafts', () => draftsContract(open))
    describe('of lists', () => listsContract(open, limits))
    describe('of filters', () => filtersContract(open, limits))
    describe('of summaries', () => summariesContract(open))
    describe('of revisions', () => revisionsContract(open))
    describe('of unpublishes', () => unpublishContract(open))
    describe('of pruned revisions', () => pruneContract(open, openTogether))
    describe('of replies', () => repliesContract(open))
    describe('of deleted forms', () => undeleteContract(openSame, limits))
    describe('of form ids', () => formIdsContract(openSame, limits))
    describe('of request ids', () => requestIdsContract(open, limits))
    describe('of records', () => recordsContract(open))
    describe('of quotas', () => quotasContract(open))
    describe('of tenants', () => tenantsContract(open))
    describe('of recorded events', () => recordedEventsContract(open))
    describe('of event logs', () => eventLogsContract(open, openTogether))
    describe('of concurrent events', () => concurrentEventsContract(openTogether, limits))
  })
}
