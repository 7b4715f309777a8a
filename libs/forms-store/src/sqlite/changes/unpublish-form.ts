import type { SqliteDatabase } from '@fms/store-kit'
import { assertLive } from '../../errors.ts'
import { unpublishChange } from '../../events/recorded-event.ts'
import type { FormRef, FormState, StoredForm } from '../../forms-store.ts'
import type { Recording } from '../events/record-event.ts'
import { findForm, setForm } from '../find-form.ts'
import { toStoredForm } from '../rows.ts'

/** Takes `live` away in one transaction. Raises `liveNumber`, so that no stored revision becomes live again. */
export const unpublishForm = (
  database: SqliteDatabase,
  ref: FormRef,
  note: string,
  check: (current: FormState) => void,
  { record, checkRequest }: Recording,
): Promise<StoredForm | undefined> =>
  database.write(() => {
    checkRequest()
    const row = findForm(database, ref)
    if (!row) return undefined
    const form = toStoredForm(row)
    check(form)
    assertLive(ref, form)
    setForm(database, form, { liveNumber: row.revisionNumber!, liveRevisionId: null })
    const live = { revisionId: row.liveRevisionId as string, number: row.liveNumber as number }
    record(form, unpublishChange(form, live, note))
    return { ...form, live: false }
  })
