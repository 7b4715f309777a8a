import { randomInt } from 'node:crypto'
import { readInPages } from '@fms/store-kit'
import type { MongoTransaction } from '@fms/store-kit/mongodb'
import { type Growth, growthOf } from '../changes/change.ts'
import type { OrganizationForms, Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota } from '../quota.ts'
import type { FormDocument, FormsCollections } from './documents.ts'

const parts = ['forms', 'bytes', 'revisions', 'revisionBytes'] as const satisfies readonly (keyof Growth)[]

const growthSums = {
  $group: {
    _id: null,
    count: { $sum: 1 },
    ...Object.fromEntries(parts.map((part) => [part, { $sum: `$growth.${part}` }])),
  },
}

type GrowthSums = Pick<Growth, (typeof parts)[number]> & { count: number }

/** The numbered event at one end of a log. Index: events_by_position. */
const eventAtEnd = (organizationId: string, direction: 1 | -1, growth: unknown) => [
  { $match: { organizationId, position: { $gt: 0 } } },
  { $sort: { position: direction } },
  { $limit: 1 },
  { $project: { growth } },
]

/** The bytes of the events before an event, negative: retention has deleted those before the oldest. */
const lossBefore = { bytes: { $subtract: ['$growth.eventBytes', '$total.eventBytes'] } }

/**
 * What adds up to what an organization has: the total of the newest numbered event, without the events that retention has
 * deleted, and the growth of pending events and of changes without an event. No change of a form writes a document that
 * others write, too. Indexes: events_by_position, events_by_pendingTime.
 */
const usageParts = (organizationId: string) =>
  [
    { coll: 'events', pipeline: eventAtEnd(organizationId, -1, '$total') },
    { coll: 'events', pipeline: eventAtEnd(organizationId, 1, lossBefore) },
    {
      coll: 'events',
      pipeline: [{ $match: { pendingIn: organizationId, organizationId } }, { $project: { growth: 1 } }],
    },
    {
      coll: 'growth',
      pipeline: [{ $match: { organizationId } }, { $project: { growth: 1 } }],
    },
  ] as const

/** Reads what an organization has, in one snapshot. */
export const readUsage = async (
  { events }: FormsCollections,
  organizationId: string,
): Promise<GrowthSums> => {
  const [{ pipeline }, ...others] = usageParts(organizationId)
  const unions = others.map((part) => ({ $unionWith: part }))
  const [sums] = await events.aggregateSnapshot([...pipeline, ...unions, growthSums])
  return { ...growthOf({}), count: 0, ...(sums as Partial<GrowthSums> | undefined) }
}

/** The organizations that have forms, deleted ones included. Index: forms_by_id, one entry for each organization. */
export async function* listOrganizations(collections: FormsCollections): AsyncGenerator<OrganizationForms> {
  const options = { sort: { organizationId: 1, _id: 1 }, limit: 1, fields: ['organizationId'] } as const
  const readAfter = (last?: FormDocument) => {
    const query = { organizationId: { $gt: last?.organizationId ?? '' } }
    return Array.fromAsync(collections.forms.find(query, options))
  }
  for await (const { organizationId } of readInPages(readAfter))
    yield { organizationId, forms: (await readUsage(collections, organizationId)).forms }
}

/** Reads the same in a transaction, where MongoDB allows no `$unionWith` (SERVER-45542). */
const readUsageIn = async (transaction: MongoTransaction, organizationId: string): Promise<Usage> => {
  const used = { forms: 0, bytes: 0 }
  for (const { coll, pipeline } of usageParts(organizationId)) {
    const [sums] = await transaction.aggregate(coll, [...pipeline, growthSums])
    for (const name of names) used[name] += sums?.[name] ?? 0
  }
  return used
}

/** Documents over which growth without an event is spread, so that few concurrent transactions write the same one. */
const growthSlots = 64

/** The write that adds growth without an event. An upsert: expects one match. */
export const addGrowth = (organizationId: string, growth: Omit<Growth, 'eventBytes'>) => ({
  collection: 'growth',
  update: { _id: `${organizationId}/${randomInt(growthSlots)}`, organizationId },
  by: {
    $inc: Object.fromEntries(parts.map((part) => [`growth.${part}`, growth[part]])),
  },
  upsert: true,
})

/** Within this distance of a quota, growing changes of an organization run one after another. */
const margin: Usage = { forms: 1_000, bytes: 256 * 1024 * 1024 }

/** How long a process remembers that an organization is farther away from its quota, in milliseconds. */
const farMs = 1_000

const maxRemembered = 10_000

/** Enforces the quota of organizations. Growth beyond the margin within {@link farMs} may exceed the quota by the difference. */
export class MongoQuota {
  readonly #collections: FormsCollections
  readonly #quota: Quota
  /** Until when organizations are known to be far from their quota, by `performance.now()`. */
  readonly #farUntil = new Map<string, number>()

  constructor(collections: FormsCollections, quota: Quota) {
    this.#collections = collections
    this.#quota = quota
  }

  /** @throws {ApiError} QUOTA_EXCEEDED. */
  async check(organizationId: string, growth: Usage): Promise<void> {
    if (!this.#isLimited(growth)) return
    assertWithinQuota(organizationId, this.#quota, await readUsage(this.#collections, organizationId), growth)
  }

  /**
   * Checks the quota before the transaction of a change. @returns undefined far from the quota; near it, what the
   * transaction does first: exclude other growing changes, and check again. @throws {ApiError} QUOTA_EXCEEDED.
   */
  async guard(
    organizationId: string,
    growth: Usage,
  ): Promise<((transaction: MongoTransaction) => Promise<void>) | undefined> {
    const farUntil = this.#farUntil.get(organizationId) ?? 0
    if (!this.#isLimited(growth) || farUntil > performance.now()) return undefined
    const used = await readUsage(this.#collections, organizationId)
    assertWithinQuota(organizationId, this.#quota, used, growth)
    if (names.every((name) => this.#quota[name] === 0 || used[name] + margin[name] < this.#quota[name])) {
      if (this.#farUntil.size >= maxRemembered) this.#farUntil.clear()
      this.#farUntil.set(organizationId, performance.now() + farMs)
      return undefined
    }
    return async (transaction) => {
      await transaction.write([
        {
          collection: 'growth',
          update: { _id: organizationId, organizationId },
          by: { $inc: { guarded: 1 } },
          upsert: true,
        },
      ])
      assertWithinQuota(organizationId, this.#quota, await readUsageIn(transaction, organizationId), growth)
    }
  }

  #isLimited(growth: Usage): boolean {
    return names.some((name) => this.#quota[name] > 0 && growth[name] > 0)
  }
}

const names = ['forms', 'bytes'] as const satisfies readonly (keyof Usage)[]
