import type { SqliteDatabase } from '@fms/store-kit'
import type { ChangeEngine } from '../../changes/change-engine.ts'
import type { FormRef, Quota } from '../../forms-store.ts'
import { toFoundDraft, toFoundForm, toStoredRevision } from '../../stored-rows.ts'
import { findForm, formsByPublicId } from '../find-form.ts'
import { readRecord } from '../records/read-record.ts'
import { foundColumns } from '../rows.ts'
import { checkRoom } from '../usage.ts'
import { applyChange } from './apply-change.ts'
import { clearRemains } from './clear-remains.ts'
import { findRequest, findRevisions, findTakenId, lastTimeOf } from './find-taken.ts'

export const sqliteChanges = (database: SqliteDatabase, quota: Quota): ChangeEngine => ({
  async findForm(ref, isDeleted) {
    const row = findForm(database, ref, foundColumns, isDeleted)
    return row && toFoundForm(row)
  },

  async findDraft(ref, isDeleted) {
    const row = findForm(database, ref, `${foundColumns}, aiHandoff, draft`, isDeleted)
    return row && toFoundDraft(row)
  },

  findRequest: async (organizationId, request) => findRequest(database, organizationId, request),

  findTakenId: async (form) => database.snapshot(() => findTakenId(database, form)),

  lastTimeOf: async (form) => lastTimeOf(database, form),

  findRevisions: async (organizationId, revisions) => findRevisions(database, organizationId, revisions),

  /** Index: the key of revisions. */
  async readLive({ formId, liveRevisionId }) {
    if (liveRevisionId === null) return undefined
    const row = database.get('SELECT * FROM revisions WHERE revisionId = ?', liveRevisionId)
    return row && toStoredRevision({ ...row, formId })
  },

  formsByPublicId: (organizationId, isDeleted) => formsByPublicId(database, organizationId, isDeleted),

  readRecord: async ({ organizationId, formId }) =>
    database.snapshot(() => {
      const row = findForm(database, { organizationId, formRef: formId }, '*', undefined)
      return row && readRecord(database, row)
    }),

  apply(change) {
    const { actor } = change.context
    const flow = { organization: change.organizationId, user: 'user' in actor ? actor.user : '' }
    return database.write(() => applyChange(database, quota, change), flow)
  },

  async checkRoom(change) {
    checkRoom(database, quota, change)
  },

  /** Index: the key of replies. */
  recordReplies: ({ organizationId, formId, replyIds }) =>
    database.write(
      () => {
        const form = findForm(database, { organizationId, formRef: formId }, 'id', undefined)
        if (!form) return 0
        database.assertRoom()
        let counted = 0
        for (const replyId of replyIds)
          counted += database.run('INSERT OR IGNORE INTO replies VALUES (?, ?)', form.id!, replyId)
        const sql = 'UPDATE forms SET replyCount = replyCount + ? WHERE id = ?'
        if (counted > 0) database.run(sql, counted, form.id!)
        return counted
      },
      { organization: organizationId, user: '' },
    ),

  /** Index: deletions_by_purgeTime. */
  async findDue(limit) {
    const sql =
      'SELECT organizationId, formId AS formRef FROM deletions WHERE purgeTime <= ? ORDER BY purgeTime LIMIT ? + 0'
    return database.all(sql, Date.now(), limit) as unknown as FormRef[]
  },

  async isDue({ incarnation }) {
    const sql = 'SELECT 1 FROM deletions WHERE incarnation = ? AND purgeTime <= ?'
    return database.get(sql, incarnation, Date.now()) !== undefined
  },

  clearRemains: (signal, incarnation) => clearRemains(database, signal, incarnation as number | undefined),
})
