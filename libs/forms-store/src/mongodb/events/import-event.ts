import { type FormEvent, parseSequence } from '@fms/contracts'
import { recordDigest } from '@fms/store-kit'
import { eventConflict } from '../../errors.ts'
import type { ImportedEvent } from '../../events/event-log.ts'
import { formOfEvent, withSequence } from '../../events/recorded-event.ts'
import type { EventDocument, FormsCollections } from '../documents.ts'
import { eventKey, highestSequence, noteRecorded, raiseRecorded } from './append-events.ts'

/** The incarnation of events that were imported with a log. */
const noIncarnation = ''

/** The event of a document of the log. */
export const toFormEvent = ({ event, sequence }: EventDocument): FormEvent =>
  withSequence(JSON.parse(event), sequence)

/**
 * Stores an event at its position at the end of the log. The document of a new log comes first: if the import is killed,
 * nothing is recorded before that position.
 */
export const importEvent = async (
  collections: FormsCollections,
  event: FormEvent,
): Promise<ImportedEvent> => {
  const { events, eventLogs } = collections
  const { organizationId, formId } = formOfEvent(event)
  const [sequence, time] = [parseSequence(event.sequence), Date.parse(event.time)]
  const found = await events.findOne({ organizationId, sequence })
  if (found && recordDigest(toFormEvent(found)) !== recordDigest(event)) throw eventConflict(event)
  const log = await eventLogs.findOne({ _id: organizationId, organizationId })
  if (!log) await noteRecorded(collections, organizationId, log, sequence - 1, time, sequence)
  if (!found) {
    const last = await highestSequence(collections, organizationId, log?.recordedSequence ?? sequence - 1)
    if (last !== sequence - 1) throw eventConflict(event)
    const { sequence: _, ...recorded } = event
    const place = { organizationId, formId, incarnation: noIncarnation, number: sequence, sequence }
    const document = {
      _id: eventKey(organizationId, event.id),
      ...place,
      time,
      event: JSON.stringify(recorded),
    }
    if (!(await events.insert(document))) throw eventConflict(event)
  } else if (!(await events.confirm({ organizationId, sequence, _id: eventKey(organizationId, event.id) }))) {
    return importEvent(collections, event)
  }
  await raiseRecorded(eventLogs, organizationId, sequence)
  return found ? 'exists' : 'imported'
}
