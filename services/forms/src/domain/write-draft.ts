import {
  type FieldViolation,
  invalidRequest,
  type Json,
  type JsonObject,
  mergePatch,
  toFieldViolations,
} from '@fms/aip'
import { FormDraft, FormType, maxDraftBytes, outputOnlyFields, unclearableFields } from '@fms/contracts'
import { type ChangedForm, changedFields, type StoredDraft, toStoredDraft } from '@fms/forms-store'

/** A draft, and the names of the fields that a patch has changed. */
export type ChangedDraft = StoredDraft & Pick<ChangedForm, 'changedFields'>

/** The draft of a create request, with defaults. @throws {ApiError} INVALID_REQUEST with all violations. */
export const newDraft = (form: JsonObject): StoredDraft => checkedDraft(undefined, form).draft

/** Applies a merge patch (RFC 7396); undefined if nothing changes. @throws {ApiError} INVALID_REQUEST */
export const patchDraft = (draftJson: string, patch: JsonObject): ChangedDraft | undefined => {
  const stored: FormDraft = JSON.parse(draftJson)
  const { draft, data } = checkedDraft(stored, patch)
  const fields = changedFields(stored, data)
  return fields.length > 0 ? { ...draft, changedFields: fields } : undefined
}

/** A valid draft, parsed (`data`) and as it is stored (`draft`). */
const checkedDraft = (stored: FormDraft | undefined, patch: JsonObject) => {
  const changes = withoutOutputOnlyFields(patch)
  const { data, error } = FormDraft.safeParse(mergePatch(stored as Json | undefined, changes))
  const draft = data && toStoredDraft(data)
  const violations = [
    ...unclearableNulls(changes),
    ...changedType(stored, changes),
    ...(error ? toFieldViolations(error, 'form') : []),
    ...(draft ? tooLarge(draft.draftJson) : []),
  ]
  if (!draft || violations.length > 0) throw invalidRequest(violations)
  return { data, draft }
}

const withoutOutputOnlyFields = (patch: JsonObject): JsonObject => {
  const changes = { ...patch }
  for (const field of outputOnlyFields) delete changes[field]
  return changes
}

const unclearableNulls = (changes: JsonObject): FieldViolation[] =>
  unclearableFields
    .filter((field) => changes[field] === null)
    .map((field) => ({ field: `form.${field}`, description: 'cannot be cleared' }))

/** A change to another valid type. The schema rejects invalid types. */
const changedType = (stored: FormDraft | undefined, { type }: JsonObject): FieldViolation[] =>
  stored && type !== undefined && type !== stored.type && FormType.safeParse(type).success
    ? [{ field: 'form.type', description: `is fixed at creation: it is "${stored.type}"` }]
    : []

export const tooLarge = (json: string): FieldViolation[] => {
  const bytes = Buffer.byteLength(json)
  return bytes > maxDraftBytes
    ? [{ field: 'form', description: `must have at most ${maxDraftBytes} bytes as JSON, and has ${bytes}` }]
    : []
}
