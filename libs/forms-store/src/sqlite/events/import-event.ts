import { type FormEvent, parseSequence } from '@fms/contracts'
import { recordDigest, type SqliteDatabase } from '@fms/store-kit'
import { eventConflict } from '../../errors.ts'
import type { ImportedEvent } from '../../events/event-log.ts'
import { eventBytesOf, formOfEvent } from '../../events/recorded-event.ts'
import { addUsage } from '../usage.ts'
import { appendEvent } from './append-event.ts'

/** Stores an event at its position at the end of the log. Runs in a transaction. */
export const importEvent = (database: SqliteDatabase, event: FormEvent): ImportedEvent => {
  const form = formOfEvent(event)
  const sequence = parseSequence(event.sequence)
  const sql = 'SELECT event FROM events WHERE organizationId = ? AND (sequence = ? OR eventId = ?)'
  const found = database.get(sql, form.organizationId, sequence, event.id)
  if (found) {
    if (recordDigest(JSON.parse(found.event as string)) !== recordDigest(event)) throw eventConflict(event)
    return 'exists'
  }
  appendEvent(database, form, (lastSequence) => {
    if (lastSequence > 0 && sequence !== lastSequence + 1) throw eventConflict(event)
    return event
  })
  addUsage(database, form.organizationId, { bytes: eventBytesOf(event) })
  return 'imported'
}
