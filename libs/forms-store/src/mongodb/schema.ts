import { type FormOrderField, formOrderFields } from '@fms/contracts'
import type { MongoIndex, MongoSchema } from '@fms/store-kit/mongodb'
import { listedFields } from '../lists/form-fields.ts'

const descending = -1

/** An index of forms, which a list selects by its name. A backward scan gives the opposite order. */
const ofForms = (name: string, fields: Readonly<Record<string, 1 | -1>>): MongoIndex => ({
  collection: 'forms',
  name,
  key: { organizationId: 1, isDeleted: 1, ...fields },
})

/** The index of each order, by its first field. `publicId` breaks ties. */
export const orderIndexes = Object.fromEntries(
  formOrderFields.map((field) => [
    field,
    ofForms(`forms_by_${field}`, { [field]: 1, [field === 'publicId' ? '_id' : 'publicId']: 1 }),
  ]),
) as Record<FormOrderField, MongoIndex>

const defaultOrder = { updateTime: descending, publicId: 1 } as const

export const formIndexes = {
  /** The default order: its ties ascend. */
  byUpdateTimeDescending: ofForms('forms_by_updateTime_desc', defaultOrder),
  /** Has all fields of filters and orders, and the whole shard key: the engine reads its entries instead of documents. */
  byType: ofForms('forms_by_type', {
    type: 1,
    ...defaultOrder,
    ...Object.fromEntries(
      listedFields.filter((field) => !(field in defaultOrder)).map((field) => [field, 1]),
    ),
    _id: 1,
  }),
  /** For texts that names contain. */
  byNameTrigrams: ofForms('forms_by_nameTrigrams', { nameTrigrams: 1 }),
} as const

const ofForm = { organizationId: 1, formId: 1 } as const
const byIncarnation = { ...ofForm, incarnation: 1 } as const

const index = (
  collection: string,
  field: string,
  key: MongoIndex['key'],
  options: Pick<MongoIndex, 'unique' | 'sparse' | 'ifPresent'> = {},
): MongoIndex => ({ collection, name: `${collection}_by_${field}`, key, ...options })

/**
 * The indexes in addition to those of `_id`. Shard keys: `{organizationId, _id}` of forms and deletions, `{_id}` of
 * publicIds and eventLogs, `{organizationId}` of the others. Every unique index begins with its shard key,
 * and every query contains it, except for those of imports, relays, retention and metrics, which read all organizations.
 */
export const formsSchema: MongoSchema = {
  store: 'forms',
  version: 1,
  oldestVersion: 1,
  indexes: [
    ...Object.values(orderIndexes),
    ...Object.values(formIndexes),
    // The shard key.
    index('forms', 'id', { organizationId: 1, _id: 1 }),
    // Operators look for forms with many revisions in all organizations.
    index('forms', 'revisionNumber', { revisionNumber: 1 }),
    index('deletions', 'id', { organizationId: 1, _id: 1 }),
    // Most recently deleted first; and those whose time to be purged has come.
    index('deletions', 'deleteTime', { organizationId: 1, deleteTime: descending, _id: 1 }),
    index('deletions', 'purgeTime', { purgeTime: 1 }),
    index('revisions', 'number', { ...byIncarnation, number: descending }, { unique: true }),
    index('revisions', 'commandId', { organizationId: 1, commandId: 1 }, { unique: true }),
    // Without the shard key: an import looks for its revisions in all organizations.
    index('revisions', 'revisionId', { revisionId: 1 }),
    index('replies', 'replyId', { ...byIncarnation, replyId: 1 }, { unique: true }),
    index('events', 'position', { organizationId: 1, position: 1 }, { unique: true }),
    index('events', 'form', { ...ofForm, position: 1 }),
    index('events', 'request', { organizationId: 1, request: 1 }, { unique: true, ifPresent: 'request' }),
    index('events', 'pendingTime', { pendingIn: 1, pendingTime: 1 }, { sparse: true }),
    index('eventLogs', 'isBehind', { isBehind: 1 }, { sparse: true }),
    index('eventLogs', 'oldestTime', { oldestTime: 1 }, { sparse: true }),
    index('eventLogs', 'streamedEvents', { streamedEvents: 1 }),
    // These two also create their collections: a transaction that creates one conflicts with others.
    index('publicIds', 'form', ofForm),
    index('growth', 'organizationId', { organizationId: 1 }),
    index('remains', 'clearTime', { clearTime: 1 }),
    index('remains', 'organizationId', { organizationId: 1 }),
  ],
}
