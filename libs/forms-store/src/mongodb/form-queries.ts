import { type FormPath, isPublicId, isUuid } from '@fms/contracts'
import type { FormRef } from '../forms-store.ts'
import type { FormDocument, FormsCollections, Incarnation } from './documents.ts'

/** The `_id` of a form whose id a client has chosen, or another organization has, too. */
export const documentIdInOrganization = ({ organizationId, formId }: FormPath): string =>
  `${organizationId}/${formId}`

/** The `_id`s that a form may have: docs/decisions/0034-form-ids-of-an-organization.md. */
export const documentIdsOf = (form: FormPath): [string, string] => [
  form.formId,
  documentIdInOrganization(form),
]

/** The form's id. */
export const formIdOf = ({ _id }: Pick<FormDocument, '_id'>): string => _id.slice(_id.lastIndexOf('/') + 1)

/** The query that finds a form by its id. Not for writes: on shards, they need one `_id`. */
export const formById = (form: FormPath) => ({
  organizationId: form.organizationId,
  _id: { $in: documentIdsOf(form) },
})

/** The queries, for writes, of which one finds a form by its id. */
export const formByIdEach = (form: FormPath) =>
  documentIdsOf(form).map((_id) => ({ organizationId: form.organizationId, _id }))

/** The query that finds a form by reference; undefined if the reference is neither a UUID nor a public id. */
export const formByRef = ({ organizationId, formRef }: FormRef) => {
  if (isUuid(formRef)) return formById({ organizationId, formId: formRef.toLowerCase() })
  if (isPublicId(formRef)) return { organizationId, publicId: formRef }
  return undefined
}

/** The query that finds this incarnation of a form. */
export const formKey = ({ organizationId, _id, incarnation }: FormDocument) => ({
  organizationId,
  _id,
  incarnation,
})

/** The query that finds a form in the state of a document, except for its replies. */
export const unchanged = (form: FormDocument) => ({
  ...formKey(form),
  // Release 0.1.0 changes it without an event.
  version: form.version,
  // Null also matches documents without the field.
  eventNumber: form.eventNumber ?? null,
  // A collection changes it when it moves the events of the form to later times.
  eventTime: form.eventTime ?? null,
})

/** The incarnation that a form document is. */
export const incarnationOf = (form: FormDocument): Incarnation => ({
  organizationId: form.organizationId,
  formId: formIdOf(form),
  incarnation: form.incarnation,
})

/**
 * Whether the form still exists in this incarnation. If not, everything that belongs to the incarnation is invisible.
 */
export const isAlive = ({ forms }: FormsCollections, form: Incarnation): Promise<boolean> =>
  forms.has({ ...formById(form), incarnation: form.incarnation })

/** Whether a form exists in one of these incarnations, or can be restored. */
export const isKept = async (
  { forms, deletions }: FormsCollections,
  form: FormPath,
  incarnations: readonly string[],
): Promise<boolean> => {
  const incarnation = { $in: incarnations }
  const exists = () => forms.has({ ...formById(form), incarnation })
  const { organizationId, formId } = form
  const canBeRestored = () => deletions.has({ organizationId, formId, incarnation, purgeTime: { $gt: 0 } })
  // An undelete may move the form from the one to the other meanwhile.
  return (await exists()) || (await canBeRestored()) || (await exists())
}

/** The fields of `visibleRevisions`. */
export const visibilityFields = [
  'organizationId',
  'incarnation',
  'revisionNumber',
  'cancelledNumber',
] as const satisfies readonly (keyof FormDocument)[]

/**
 * The query that finds the visible revisions of a form. A publish in progress may have stored a later one. Only forms with
 * a cancelled publish need the condition that no index contains.
 */
export const visibleRevisions = (form: FormDocument) => ({
  ...incarnationOf(form),
  number: { $lte: form.revisionNumber },
  ...(form.cancelledNumber !== undefined && { isCancelled: null }),
})

/** The number of the next publish of a form. */
export const nextNumber = ({ revisionNumber, cancelledNumber = 0 }: FormDocument): number =>
  Math.max(revisionNumber, cancelledNumber) + 1
