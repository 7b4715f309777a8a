import { describe } from 'vitest'
import { draftsContract } from './drafts.ts'
import { concurrentEventsContract } from './events/concurrent-events.ts'
import { eventLogsContract } from './events/event-logs.ts'
import { recordedEventsContract } from './events/recorded-events.ts'
import { formIdsContract } from './form-ids.ts'
import type { OpenStore, OpenStoreTogether } from './given.ts'
import type { EngineLimits } from './hostile-names.ts'
import { filtersContract } from './lists/filters.ts'
import { listsContract } from './lists/lists.ts'
import { summariesContract } from './lists/summaries.ts'
import { pruneContract } from './prune.ts'
import { quotasContract } from './quotas.ts'
import { recordsContract } from './records.ts'
import { repliesContract } from './replies.ts'
import { requestIdsContract } from './request-ids.ts'
import { revisionsContract } from './revisions.ts'
import { tenantsContract } from './tenants.ts'
import { undeleteContract } from './undelete.ts'
import { unpublishContract } from './unpublish.ts'

/** A store engine under test. */
export interface StoreUnderTest {
  name: string
  /** Opens the store, which may contain data of earlier tests. */
  open: OpenStore
  /** Opens one new store several times. */
  openTogether: OpenStoreTogether
  /** Opens the same store each time. */
  openSame: OpenStore
  limits: EngineLimits
}

const readsContract = ({ open, limits }: StoreUnderTest): void => {
  describe('of drafts', () => draftsContract(open, limits))
  describe('of lists', () => listsContract(open, limits))
  describe('of filters', () => filtersContract(open, limits))
  describe('of summaries', () => summariesContract(open, limits))
  describe('of records', () => recordsContract(open, limits))
}

const changesContract = ({ open, openTogether, openSame, limits }: StoreUnderTest): void => {
  describe('of revisions', () => revisionsContract(open))
  describe('of unpublishes', () => unpublishContract(open))
  describe('of pruned revisions', () => pruneContract(open, openTogether, limits))
  describe('of replies', () => repliesContract(open))
  describe('of deleted forms', () => undeleteContract(openSame, limits))
  describe('of form ids', () => formIdsContract(openSame, limits))
  describe('of request ids', () => requestIdsContract(open, limits))
  describe('of tenants', () => tenantsContract(open))
}

const eventsContract = ({ open, openTogether, limits }: StoreUnderTest): void => {
  describe('of quotas', () => quotasContract(open, limits))
  describe('of recorded events', () => recordedEventsContract(open))
  describe('of event logs', () => eventLogsContract(open, openTogether))
  describe('of concurrent events', () => concurrentEventsContract(openTogether, limits))
}

const contracts = { reads: readsContract, changes: changesContract, 'quotas and events': eventsContract }

/**
 * The tests that every adapter of the FormsStore port passes.
 *
 * @param parts all by default. A slow engine has a test file for each, since files run in parallel.
 */
export const formsStoreContract = (
  store: StoreUnderTest,
  parts = Object.keys(contracts) as (keyof typeof contracts)[],
): void => {
  for (const part of parts) describe(`the forms store on ${store.name}`, () => contracts[part](store))
}
