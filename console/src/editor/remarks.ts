import type { FieldViolation } from '@fms/client'
import type { RemarkKind, RemarksAbout } from '../elements/remark-texts.tsx'

/** What the service says about fields of a form. */
export type Remarks = RemarksAbout<FieldViolation>

const ofEachKind = <T>(
  { violations, warnings }: Remarks,
  take: (found: readonly FieldViolation[]) => T[],
) => ({
  violations: take(violations),
  warnings: take(warnings),
})

/** The texts of the remarks about a field itself, without those about what is inside of it. */
export const remarksAt = (remarks: Remarks, field: string): RemarksAbout<string> =>
  ofEachKind(remarks, (found) =>
    found.filter((each) => each.field === field).map(({ description }) => description),
  )

const isWithin = (inner: string, field: string): boolean =>
  inner === field || (/^[.[]/.test(inner.slice(field.length)) && inner.startsWith(field))

/** The remarks about a field and in it, except those about exactly a member in `shown`, whose own input field has them. */
export const remarksElsewhere = (remarks: Remarks, field: string, shown: readonly string[]): Remarks => {
  const ownFields = new Set(shown.map((name) => `${field}.${name}`))
  return ofEachKind(remarks, (found) =>
    found.filter((each) => isWithin(each.field, field) && !ownFields.has(each.field)),
  )
}

/** The kind of the worst remark about a field or in it. */
export const worstWithin = ({ violations, warnings }: Remarks, field: string): RemarkKind | undefined => {
  const has = (found: readonly FieldViolation[]) => found.some((each) => isWithin(each.field, field))
  return has(violations) ? 'violations' : has(warnings) ? 'warnings' : undefined
}

/** By index, the kind of the worst remark about a step. For forms with many: reads each remark once. */
export const worstOfSteps = ({ violations, warnings }: Remarks): ReadonlyMap<number, RemarkKind> => {
  const worst = new Map<number, RemarkKind>()
  const add = (found: readonly FieldViolation[], kind: RemarkKind) => {
    for (const { field } of found) {
      const [, index] = /^form\.steps\[(\d+)\]/.exec(field) ?? []
      if (index !== undefined) worst.set(Number(index), kind)
    }
  }
  add(warnings, 'warnings')
  add(violations, 'violations')
  return worst
}
