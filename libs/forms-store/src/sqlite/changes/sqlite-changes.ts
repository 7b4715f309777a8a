import type { FormPath } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import type { Change, FoundDraft } from '../../changes/change.ts'
import type { ChangeEngine } from '../../changes/change-engine.ts'
import type { FormRef, Quota, StoredForm } from '../../forms-store.ts'
import { limitedGrowth } from '../../quota.ts'
import { toFoundDraft, toFoundForm, toStoredRevision } from '../../stored-rows.ts'
import { findForm } from '../find-form.ts'
import { readRecord } from '../records/export-forms.ts'
import { foundColumns } from '../rows.ts'
import { checkGrowth } from '../usage.ts'
import { applyChange } from './apply-change.ts'
import { clearRemains } from './clear-remains.ts'
import { findRequest, findRevisions, findTakenId, lastTimeOf } from './find-taken.ts'

export class SqliteChanges implements ChangeEngine {
  readonly #database: SqliteDatabase
  readonly #quota: Quota

  constructor(database: SqliteDatabase, quota: Quota) {
    this.#database = database
    this.#quota = quota
  }

  readonly findForm: ChangeEngine['findForm'] = async (ref, isDeleted) => {
    const row = findForm(this.#database, ref, foundColumns, isDeleted)
    return row && toFoundForm(row)
  }

  async findDraft(ref: FormRef, isDeleted: boolean): Promise<FoundDraft | undefined> {
    const row = findForm(this.#database, ref, `${foundColumns}, aiHandoff, draft`, isDeleted)
    return row && toFoundDraft(row)
  }

  readonly findRequest: ChangeEngine['findRequest'] = async (organizationId, request) =>
    findRequest(this.#database, organizationId, request)

  async findTakenId(form: FormPath & Pick<StoredForm, 'publicId'>) {
    return this.#database.snapshot(() => findTakenId(this.#database, form))
  }

  readonly lastTimeOf: ChangeEngine['lastTimeOf'] = async (form) => lastTimeOf(this.#database, form)

  readonly findRevisions: ChangeEngine['findRevisions'] = async (organizationId, revisions) =>
    findRevisions(this.#database, organizationId, revisions)

  /** Index: the key of revisions. */
  readonly readLive: ChangeEngine['readLive'] = async ({ formId, liveRevisionId }) => {
    if (liveRevisionId === null) return undefined
    const row = this.#database.get('SELECT * FROM revisions WHERE revisionId = ?', liveRevisionId)
    return row && toStoredRevision({ ...row, formId })
  }

  readonly readRecord: ChangeEngine['readRecord'] = async ({ organizationId, formId }) =>
    this.#database.snapshot(() => {
      const row = findForm(this.#database, { organizationId, formRef: formId }, '*', undefined)
      return row && readRecord(this.#database, row)
    })

  readonly apply: ChangeEngine['apply'] = (change) => {
    const { actor } = change.context
    const flow = { organization: change.organizationId, user: 'user' in actor ? actor.user : '' }
    return this.#database.write(() => applyChange(this.#database, this.#quota, change), flow)
  }

  async checkRoom(change: Change): Promise<void> {
    checkGrowth(this.#database, this.#quota, change.organizationId, limitedGrowth(change))
  }

  /** Index: the key of replies. */
  readonly recordReplies: ChangeEngine['recordReplies'] = ({ organizationId, formId, replyIds }) => {
    const database = this.#database
    return database.write(
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
    )
  }

  /** Index: deletions_by_purgeTime. */
  async findDue(limit: number): Promise<FormRef[]> {
    const sql =
      'SELECT organizationId, formId AS formRef FROM deletions WHERE purgeTime <= ? ORDER BY purgeTime LIMIT ? + 0'
    return this.#database.all(sql, Date.now(), limit) as unknown as FormRef[]
  }

  readonly isDue: ChangeEngine['isDue'] = async ({ incarnation }) => {
    const sql = 'SELECT 1 FROM deletions WHERE incarnation = ? AND purgeTime <= ?'
    return this.#database.get(sql, incarnation, Date.now()) !== undefined
  }

  readonly clearRemains: ChangeEngine['clearRemains'] = (signal, incarnation) =>
    clearRemains(this.#database, signal, incarnation as number | undefined)
}
