import type { MongoCollection } from '@fms/store-kit/mongodb'
import type { FormsCollections, Incarnation, ReservationDocument } from '../documents.ts'
import { isKept } from '../form-queries.ts'

type Reservations = MongoCollection<ReservationDocument>

/** The `_id` of a command's reservation: unique per organization, over all shards. */
export const commandKey = (organizationId: string, commandId: string): string =>
  `${organizationId}/${commandId}`

/**
 * Reserves an id for an incarnation of a form. Idempotent.
 *
 * @returns `reserved` when nobody had it; `shared` when the form had it, in whatever incarnation; otherwise the
 *   reservation of another form.
 */
export const reserve = async (
  reservations: Reservations,
  _id: string,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<'reserved' | 'shared' | ReservationDocument> => {
  const own = { organizationId, formId, incarnations: [incarnation], isShared: false }
  for (;;) {
    if (await reservations.insert({ _id, ...own, reserveTime: Date.now() })) return 'reserved'
    const found = await reservations.findOne({ _id })
    if (found && !(found.organizationId === organizationId && found.formId === formId)) return found
    // Not found: released meanwhile, so the next insert succeeds.
    if (found && (await share(reservations, found, incarnation))) return 'shared'
  }
}

/** Adds an incarnation to a reservation of its form. @returns false when the reservation has changed. */
const share = async (
  reservations: Reservations,
  { _id, incarnations, isShared }: ReservationDocument,
  incarnation: string,
): Promise<boolean> => {
  if (isShared && incarnations.includes(incarnation)) return true
  const all = [...new Set([...incarnations, incarnation])]
  return reservations.set({ _id, incarnations, isShared }, { incarnations: all, isShared: true })
}

/**
 * Reserves the command of a publish in its organization. Takes it over from a form that no longer exists.
 *
 * @returns `elsewhere` when another form of the organization has the command.
 */
export const reserveCommand = async (
  collections: FormsCollections,
  commandId: string,
  incarnation: Incarnation,
): Promise<'reserved' | 'shared' | 'elsewhere'> => {
  const { commands } = collections
  const _id = commandKey(incarnation.organizationId, commandId)
  for (;;) {
    const found = await reserve(commands, _id, incarnation)
    if (typeof found === 'string') return found
    if (await isHeld(collections, found)) return 'elsewhere'
    if (await takeOver(commands, found, incarnation)) return 'reserved'
  }
}

/** Whether the form of a reservation exists in one of its incarnations, or can be restored. */
const isHeld = (collections: FormsCollections, reservation: ReservationDocument): Promise<boolean> =>
  isKept(collections, reservation, reservation.incarnations)

const takeOver = (
  reservations: Reservations,
  { _id, formId, incarnations }: ReservationDocument,
  { formId: newFormId, incarnation }: Incarnation,
): Promise<boolean> =>
  reservations.set(
    { _id, formId, incarnations },
    { formId: newFormId, incarnations: [incarnation], isShared: false },
  )

/** Releases an id that an incarnation holds. Deletes the reservation with its last incarnation. */
export const release = async (
  reservations: Reservations,
  _id: string,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<void> => {
  const own = { _id, organizationId, formId }
  while (!(await reservations.deleteOne({ ...own, incarnations: [incarnation] }))) {
    const found = await reservations.findOne({ ...own, incarnations: incarnation })
    if (!found) return
    const { incarnations } = found
    const others = incarnations.filter((each) => each !== incarnation)
    if (others.length > 0 && (await reservations.set({ ...own, incarnations }, { incarnations: others })))
      return
  }
}

/** Deletes the reservation of a publish that stored nothing, unless another delivery of its command relies on it. */
export const releaseUnlessShared = async (
  { commands }: FormsCollections,
  commandId: string,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<void> => {
  const _id = commandKey(organizationId, commandId)
  await commands.deleteOne({ _id, organizationId, formId, incarnations: [incarnation], isShared: false })
}
