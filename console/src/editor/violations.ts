import type { FieldViolation } from '@fms/client'

/** The descriptions of the violations of a field itself, without those inside of it. */
export const violationsAt = (violations: readonly FieldViolation[], field: string): string[] =>
  violations.filter((violation) => violation.field === field).map(({ description }) => description)

/** Whether something in a field is invalid, or the field itself. */
export const isInvalid = (violations: readonly FieldViolation[], field: string): boolean =>
  violations.some(
    (violation) =>
      violation.field === field ||
      (/^[.[]/.test(violation.field.slice(field.length)) && violation.field.startsWith(field)),
  )

/** The violations of a field and in it, except violations of exactly a member in `shown`, which its own input field displays. */
export const violationsElsewhere = (
  violations: readonly FieldViolation[],
  field: string,
  shown: readonly string[],
): FieldViolation[] => {
  const ownFields = new Set(shown.map((name) => `${field}.${name}`))
  return violations.filter((violation) => isInvalid([violation], field) && !ownFields.has(violation.field))
}
