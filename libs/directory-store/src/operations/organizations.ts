import { randomUUID } from 'node:crypto'
import { apiError, completeOrder, positionOf } from '@fms/aip'
import type { z } from 'zod'
import type { DirectoryStore } from '../directory-store.ts'
import { organizationNotFound } from '../errors.ts'
import { NewOrganization, OrganizationChange, parseChange, parseInput } from '../inputs.ts'
import { whereOrganization } from '../references.ts'
import { defaultOrganizationOrder, type StoredOrganization } from '../resources.ts'
import { type Change, insert, remove, update } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, findAll, type Reading } from '../tables/reading.ts'
import { type MemberRow, type OrganizationRow, toFields, toOrganization } from '../tables/rows.ts'

/** The field of a membership for each field of the list, in filters and orders. */
const memberFields = { createTime: 'organizationCreateTime', name: 'name', slug: 'slug' } as const

export const organizationOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    async createOrganization(newOrganization) {
      const fields = toFields(parseInput(NewOrganization, newOrganization))
      const organization = { organizationId: randomUUID(), ...fields, createTime: now().getTime() }
      return tables.change(() => createOrganization(organization))
    },

    async updateOrganization(ref, change) {
      const fields = parseChange(OrganizationChange, change)
      return tables.change(() => updateOrganization(ref, fields))
    },

    deleteOrganization: (ref) => tables.change(() => deleteOrganization(ref)),

    /** Indexes: the primary key and the slug. */
    findOrganization: (ref) =>
      tables.read(function* () {
        const organization = yield* find('organizations', whereOrganization(ref))
        return organization && toOrganization(organization)
      }),

    /** Indexes: the primary keys, and the slug of organizations. */
    getOrganization: (userId, ref) =>
      tables.read(function* () {
        const organization = yield* find('organizations', whereOrganization(ref))
        if (!organization) return undefined
        const { organizationId } = organization
        return (yield* find('members', { userId, organizationId })) && toOrganization(organization)
      }),

    listAllOrganizations: () =>
      tables.read(function* () {
        return (yield* findAll('organizations', {}, { order: ['createTime', 'slug'] })).map(toOrganization)
      }),

    /** Index: members_by_{first field of the order}. */
    async listOrganizations({ userId, orderBy, ...page }) {
      const order = completeOrder(orderBy, 'slug', defaultOrganizationOrder).map(({ field, descending }) => ({
        field: memberFields[field],
        descending,
      }))
      const { rows, hasMore, totalSize } = await tables.page({
        table: 'members',
        where: { userId },
        filterFields: memberFields,
        order,
        ...page,
      })
      const organizations = await tables.read(() => organizationsOf(rows))
      return { organizations, ...(hasMore && { next: positionOf(rows.at(-1)!, order) }), totalSize }
    },
  }) satisfies Partial<DirectoryStore>

/** The organizations of memberships, in the same order, without those that were deleted meanwhile. */
export function* organizationsOf(members: readonly MemberRow[]): Reading<StoredOrganization[]> {
  const ids = members.map(({ organizationId }) => organizationId)
  const found = yield* findAll('organizations', { organizationId: ids })
  const byId = new Map(found.map((row) => [row.organizationId, toOrganization(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

function* createOrganization(organization: OrganizationRow): Change<StoredOrganization> {
  const { slug } = organization
  if (yield* find('organizations', { slug })) throw apiError('SLUG_TAKEN', { slug })
  return { result: toOrganization(organization), writes: [insert('organizations', organization)] }
}

/** Also changes the copies of slug and name in the memberships. */
function* updateOrganization(
  ref: string,
  change: z.output<typeof OrganizationChange>,
): Change<StoredOrganization> {
  const current = yield* requireOrganization(ref)
  const { organizationId } = current
  const fields = toFields(change) as Partial<OrganizationRow>
  const changed = { ...current, ...fields }
  const { slug, name } = changed
  if (slug !== current.slug && (yield* find('organizations', { slug })))
    throw apiError('SLUG_TAKEN', { slug })
  const isCopied = slug !== current.slug || name !== current.name
  return {
    result: toOrganization(changed),
    writes: [
      ...update('organizations', { organizationId }, fields),
      ...(isCopied ? update('members', { organizationId }, { slug, name }) : []),
    ],
  }
}

function* deleteOrganization(ref: string): Change<void> {
  const { organizationId } = yield* requireOrganization(ref)
  const writes = [remove('members', { organizationId }), remove('organizations', { organizationId })]
  return { result: undefined, writes }
}

function* requireOrganization(ref: string): Reading<OrganizationRow> {
  const organization = yield* find('organizations', whereOrganization(ref))
  if (!organization) throw organizationNotFound(ref)
  return organization
}
