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
import type { StoredForm } from '@fms/forms-store'

/** A stored draft as JSON has at most this size, so that it fits a NATS message with the server's default limit. */
const maxDraftBytes = 768 * 1024

/**
 * The draft that a create asks for: a merge patch on nothing, where every member that is left out, or null, takes
 * its default.
 *
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong.
 */
export const newDraft = (form: JsonObject): FormDraft => checkedDraft(undefined, form).draft

/**
 * Applies a merge patch (RFC 7396) to a form's draft. A patch that changes nothing gives back its argument.
 *
 * @throws {ApiError} INVALID_REQUEST with everything that is wrong with the result.
 */
export const patchForm = (current: StoredForm, patch: JsonObject, now: Date): StoredForm => {
  // Through JSON, so that what is compared is what is kept: no undefined members, and no -0.
  const draft: FormDraft = JSON.parse(checkedDraft(current.draft, patch).json)
  if (isDeepStrictEqual(draft, current.draft)) return current
  return {
    ...current,
    draft,
    version: current.version + 1,
    updateTime: new Date(Math.max(now.getTime(), current.updateTime.getTime() + 1)),
  }
}

const checkedDraft = (
  stored: FormDraft | undefined,
  patch: JsonObject,
): { draft: FormDraft; json: string } => {
  const changes = withoutServerOwnedFields(patch)
  const { data, error } = FormDraft.safeParse(mergePatch(stored as Json | undefined, changes))
  const json = JSON.stringify(data)
  const violations = [
    ...clearedForGood(changes),
    ...changedType(stored, changes),
    ...(error ? toFieldViolations(error, 'form') : tooLarge(json)),
  ]
  if (!data || violations.length > 0) throw invalidRequest(violations)
  return { draft: data, json }
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
