import { z } from 'zod'

/** The part of a JSON value's schema that a read mask depends on. */
export type MaskMembers =
  | { kind: 'object'; members: ReadonlyMap<string, MaskMembers> }
  /** An object with any member names. */
  | { kind: 'map'; entry: MaskMembers }
  | { kind: 'array' }
  | { kind: 'value' }

/** The members that a read mask can name in a resource, from its contract. */
export const maskMembersOf = (schema: z.ZodType): MaskMembers => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return maskMembersOf(schema.unwrap() as z.ZodType)
  // The result of `z.preprocess`.
  if (schema instanceof z.ZodPipe) return maskMembersOf(schema.out as z.ZodType)
  if (schema instanceof z.ZodRecord)
    return { kind: 'map', entry: maskMembersOf(schema.valueType as z.ZodType) }
  if (schema instanceof z.ZodArray) return { kind: 'array' }
  if (!(schema instanceof z.ZodObject)) return { kind: 'value' }
  const members = Object.entries<z.ZodType>(schema.shape).map(
    ([name, member]) => [name, maskMembersOf(member)] as const,
  )
  return { kind: 'object', members: new Map(members) }
}
