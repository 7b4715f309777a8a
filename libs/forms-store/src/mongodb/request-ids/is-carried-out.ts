import { writeConflict } from '@fms/store-kit/mongodb'
import type { DeletionDocument, FormDocument, FormsCollections, RequestDocument } from '../documents.ts'
import { eventKey } from '../events/append-events.ts'
import { collectForm } from '../events/collect-events.ts'
import { formById, unchanged } from '../form-queries.ts'

type Reserved = Pick<RequestDocument, 'organizationId' | 'formId' | 'eventId'>

/**
 * Whether a request was carried out: whether its event is pending in the form, or in the log. Reads the form, its notes
 * and the log in the order in which an event moves. Indexes: that of `_id` of forms and events, and deletions_by_form.
 *
 * @returns `writeConflict` if it is not known yet: the form has changed since it was read, or it is not known which of
 *   several attempts has deleted it.
 */
export const isCarriedOut = async (
  collections: FormsCollections,
  reserved: Reserved,
): Promise<boolean | typeof writeConflict> => {
  const { forms } = collections
  const form = await forms.findOne(formById(reserved), formFields)
  if (form && hasEvent(form, reserved)) return (await forms.confirm(unchanged(form))) || writeConflict
  if (!(await isNoted(collections, reserved, form))) return isInLog(collections, reserved)
  await collectForm(collections, reserved)
  if (await isInLog(collections, reserved)) return true
  return (await isNoted(collections, reserved, form)) ? writeConflict : false
}

const formFields = [
  'organizationId',
  'incarnation',
  'version',
  'eventNumber',
  'eventTime',
  'pendingEvents',
] as const satisfies readonly (keyof FormDocument)[]

const hasEvent = (
  { pendingEvents = [] }: Pick<FormDocument, 'pendingEvents'>,
  { eventId }: Reserved,
): boolean => pendingEvents.some(({ id }) => id === eventId)

/** Whether a deleted incarnation of the form has a note with the event. */
const isNoted = async (
  { deletions }: FormsCollections,
  reserved: Reserved,
  form: FormDocument | undefined,
): Promise<boolean> => {
  const { organizationId, formId } = reserved
  const fields = ['incarnation', 'pendingEvents'] as const satisfies readonly (keyof DeletionDocument)[]
  const found = deletions.find({ organizationId, formId, collectTime: { $gt: 0 } }, { fields })
  const notes = await Array.fromAsync(found)
  return notes.some((note) => note.incarnation !== form?.incarnation && hasEvent(note, reserved))
}

const isInLog = async (
  { events }: FormsCollections,
  { organizationId, eventId }: Reserved,
): Promise<boolean> => {
  const query = { organizationId, _id: eventKey(organizationId, eventId) }
  return (await events.findDurable(query, { limit: 1, fields: ['_id'] })).length > 0
}
