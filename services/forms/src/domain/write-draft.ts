import { isDeepStrictEqual } from 'node:util'
import {
  type FieldViolation,
  invalidRequest,
  type Json,
  type JsonObject,
  mergePatch,
  toFieldViolations,
} from '@fms/aip'
import { FormDraft, FormType, serverOwnedFields, unclearableFields } from '@fms/contracts'
import { type StoredDraft, toStoredDraft } from '@fms/forms-store'

/** A stored draft as JSON has at most this size, so that it fits a NATS message with the server's default limit. */
const maxDraftBytes = 768 * 1024

/**
 * The draft that a create asks for: a merge patch on nothing, where every member that is left out, or null, takes
 * its default.
 *
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong.
 */
export const newDraft = (form: JsonObject): StoredDraft => checkedDraft(undefined, form)

/**
 * Applies a merge patch (RFC 7396) to a draft.
 *
 * @param draftJson the draft as it is stored.
 * @returns undefined when the patch changes nothing.
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong with the result.
 */
export const patchDraft = (draftJson: string, patch: JsonObject): StoredDraft | undefined => {
  const stored: FormDraft = JSON.parse(draftJson)
  const draft = checkedDraft(stored, patch)
  return isSameDraft(draft.draftJson, draftJson, stored) ? undefined : draft
}

/** Drafts that differ in the order of members alone are the same, and have texts of one length. */
const isSameDraft = (json: string, storedJson: string, stored: FormDraft): boolean =>
  json === storedJson || (json.length === storedJson.length && isDeepStrictEqual(JSON.parse(json), stored))

const checkedDraft = (stored: FormDraft | undefined, patch: JsonObject): StoredDraft => {
  const changes = withoutServerOwnedFields(patch)
  const { data, error } = FormDraft.safeParse(mergePatch(stored as Json | undefined, changes))
  const text = data && toStoredDraft(data)
  const violations = [
    ...clearedForGood(changes),
    ...changedType(stored, changes),
    ...(error ? toFieldViolations(error, 'form') : []),
    ...(text ? tooLarge(text.draftJson) : []),
  ]
  if (!text || violations.length > 0) throw invalidRequest(violations)
  return text
}

const withoutServerOwnedFields = (patch: JsonObject): JsonObject => {
  const changes = { ...patch }
  for (const field of serverOwnedFields) delete changes[field]
  return changes
}

const clearedForGood = (changes: JsonObject): FieldViolation[] =>
  unclearableFields
    .filter((field) => changes[field] === null)
    .map((field) => ({ field: `form.${field}`, description: 'cannot be cleared' }))

/** What is no type at all, the schema refuses. */
const changedType = (stored: FormDraft | undefined, { type }: JsonObject): FieldViolation[] =>
  stored && type !== undefined && type !== stored.type && FormType.safeParse(type).success
    ? [{ field: 'form.type', description: `is fixed at creation: it is "${stored.type}"` }]
    : []

const tooLarge = (json: string): FieldViolation[] => {
  const bytes = Buffer.byteLength(json)
  return bytes > maxDraftBytes
    ? [{ field: 'form', description: `must have at most ${maxDraftBytes} bytes as JSON, and has ${bytes}` }]
    : []
}
