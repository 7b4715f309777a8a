import type { MongoIndex, MongoSchema } from '@fms/store-kit/mongodb'

const descending = -1

/** An index of forms, which a list selects by its name. A backward scan gives the opposite order. */
const ofForms = (name: string, fields: Readonly<Record<string, 1 | -1>>): MongoIndex => ({
  collection: 'forms',
  name,
  key: { organizationId: 1, ...fields },
})

/** The indexes of lists of forms: one per order, and those of filters. */
export const formIndexes = {
  byPublicId: ofForms('forms_by_publicId_and_id', { publicId: 1, _id: 1 }),
  byName: ofForms('forms_by_name', { name: 1, publicId: 1 }),
  byCreateTime: ofForms('forms_by_createTime', { createTime: 1, publicId: 1 }),
  byUpdateTime: ofForms('forms_by_updateTime', { updateTime: 1, publicId: 1 }),
  byReplyCount: ofForms('forms_by_replyCount', { replyCount: 1, publicId: 1 }),
  /** The default order: its ties ascend. */
  byUpdateTimeDescending: ofForms('forms_by_updateTime_desc', { updateTime: descending, publicId: 1 }),
  /**
   * The default order within each type, and all other fields of orders and filters: the engine counts, filters and
   * sorts the entries of this index instead of documents. It has the whole shard key, without which a shard reads
   * documents.
   */
  byType: ofForms('forms_by_type', {
    type: 1,
    updateTime: descending,
    publicId: 1,
    name: 1,
    foldedName: 1,
    createTime: 1,
    replyCount: 1,
    _id: 1,
  }),
  /** For texts that names contain. */
  byNameTrigrams: ofForms('forms_by_nameTrigrams', { nameTrigrams: 1 }),
} as const

/** The fields that unique indexes of a form's revisions and replies begin with. */
const byIncarnation = { organizationId: 1, formId: 1, incarnation: 1 } as const

/**
 * The indexes in addition to those of `_id`. Every query of forms, revisions and replies contains their shard key or
 * its first field, and every unique index begins with the shard key: `organizationId` and the form's id. `publicIds`,
 * `commands`, `requests` and `eventLogs` are sharded by `_id`, which makes their ids unique over all shards, and `events`
 * by `organizationId`, the only field that both of its unique indexes begin with.
 */
export const formsSchema: MongoSchema = {
  store: 'forms',
  version: 4,
  // Version 2 stores forms without an incarnation, and changes the number of forms in `usage` without a note. Version 3
  // changes forms without events.
  oldestVersion: 3,
  indexes: [
    ...Object.values(formIndexes),
    // The shard key.
    { collection: 'forms', name: 'forms_by_id', key: { organizationId: 1, _id: 1 } },
    {
      collection: 'revisions',
      name: 'revisions_by_incarnation',
      key: { ...byIncarnation, number: descending },
      unique: true,
    },
    {
      collection: 'revisions',
      name: 'revisions_by_commandId',
      key: { ...byIncarnation, commandId: 1 },
      unique: true,
    },
    { collection: 'revisions', name: 'revisions_by_id', key: { organizationId: 1, revisionId: 1 } },
    {
      collection: 'replies',
      name: 'replies_by_incarnation',
      key: { ...byIncarnation, replyId: 1 },
      unique: true,
    },
    { collection: 'commands', name: 'commands_by_form', key: { organizationId: 1, formId: 1 } },
    { collection: 'forms', name: 'forms_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'revisions', name: 'revisions_by_bytes', key: { organizationId: 1, bytes: 1 } },
    // Operators look for forms with many revisions in all organizations.
    { collection: 'forms', name: 'forms_by_revisionNumber', key: { revisionNumber: 1 } },
    { collection: 'deletions', name: 'deletions_by_clearTime', key: { clearTime: 1 } },
    // For collections of pending events, which read all organizations, and leave out those with many pending forms. The
    // other fields are those that the backlog reads.
    {
      collection: 'forms',
      name: 'forms_by_pendingTime',
      key: { pendingTime: 1, organizationId: 1, pendingCount: 1 },
    },
    {
      collection: 'deletions',
      name: 'deletions_by_collectTime',
      key: { collectTime: 1, organizationId: 1, isConfirmed: 1, pendingCount: 1, pendingTime: 1 },
    },
    // Deleted forms that can be restored, most recently deleted first.
    {
      collection: 'deletions',
      name: 'deletions_by_deleteTime',
      key: { organizationId: 1, deleteTime: descending, formId: 1 },
    },
    { collection: 'deletions', name: 'deletions_by_bytes', key: { organizationId: 1, bytes: 1 } },
    { collection: 'deletions', name: 'deletions_by_checkTime', key: { checkTime: 1 } },
    { collection: 'requests', name: 'requests_by_reserveTime', key: { reserveTime: 1 } },
    // The notes of earlier incarnations of a form.
    { collection: 'deletions', name: 'deletions_by_form', key: { organizationId: 1, formId: 1 } },
    {
      collection: 'events',
      name: 'events_by_sequence',
      key: { organizationId: 1, sequence: 1 },
      unique: true,
    },
    { collection: 'events', name: 'events_by_number', key: { ...byIncarnation, number: 1 }, unique: true },
    { collection: 'events', name: 'events_by_form', key: { organizationId: 1, formId: 1, sequence: 1 } },
    // The relay reads the logs that are behind, and retention those with old events.
    { collection: 'eventLogs', name: 'eventLogs_by_isBehind', key: { isBehind: 1 } },
    { collection: 'eventLogs', name: 'eventLogs_by_oldestTime', key: { isPrunable: 1, oldestTime: 1 } },
  ],
  formerIndexes: [
    // Unique, and without the shard key.
    { collection: 'forms', name: 'forms_by_publicId' },
    // Replaced by forms_by_type.
    { collection: 'forms', name: 'forms_by_order' },
    // Replaced by the indexes with `incarnation`. These here would reject the revisions and replies of a restored form.
    { collection: 'revisions', name: 'revisions_by_command' },
    { collection: 'revisions', name: 'revisions_by_number' },
    { collection: 'replies', name: 'replies_by_form' },
    { collection: 'deletions', name: 'deletions_by_organization' },
  ],
}
