import { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import { fieldPath } from '../field-violations.ts'

/** The part of a JSON value's schema that a read mask depends on. */
export type MaskSchema =
  | { kind: 'object'; members: ReadonlyMap<string, MaskSchema> }
  /** An object with any member names. */
  | { kind: 'map'; entry: MaskSchema }
  | { kind: 'array' }
  | { kind: 'value' }

/** The members that a read mask can name in a resource, from its schema. */
export const maskSchemaOf = (schema: z.ZodType): MaskSchema => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return maskSchemaOf(schema.unwrap() as z.ZodType)
  // The result of `z.preprocess`.
  if (schema instanceof z.ZodPipe) return maskSchemaOf(schema.out as z.ZodType)
  if (schema instanceof z.ZodRecord)
    return { kind: 'map', entry: maskSchemaOf(schema.valueType as z.ZodType) }
  if (schema instanceof z.ZodArray) return { kind: 'array' }
  if (!(schema instanceof z.ZodObject)) return { kind: 'value' }
  const members = Object.entries<z.ZodType>(schema.shape).map(
    ([name, member]) => [name, maskSchemaOf(member)] as const,
  )
  return { kind: 'object', members: new Map(members) }
}

/** The members to return, by name: each as a whole, or with members of its own. */
export interface ReadMask extends ReadonlyMap<string, ReadMask | 'whole'> {}

/**
 * Parses a `readMask` (AIP-157), such as `name, theme.primaryColor`. `*` and an empty text mean all members: undefined.
 * White space is allowed around each path; paths may overlap. The caller limits the length of the text.
 *
 *     readMask = [ path *( "," path ) ]
 *     path     = "*" / name *( "." name )
 *     name     = 1*( ALPHA / DIGIT / "_" / "-" )
 *
 * @throws {ApiError} INVALID_REQUEST with a violation for each invalid path.
 */
export const parseReadMask = (text: string, members: MaskSchema): ReadMask | undefined => {
  if (text.trim() === '') return undefined
  const paths = [...new Set(text.split(',').map((path) => path.trim()))]
  const named = paths.filter((path) => path !== '*').map((path) => path.split('.'))
  const problems = named.map((path) => problemOf(path, members)).filter((each) => each !== undefined)
  if (problems.length > 0) {
    throw invalidRequest(problems.map((description) => ({ field: 'readMask', description })))
  }
  return named.length < paths.length ? undefined : maskOf(named)
}

/** Why a path names no member; undefined if it does. */
const problemOf = (path: readonly string[], members: MaskSchema): string | undefined => {
  if (path.length === 1 && path[0] === '') return 'has an empty path'
  let within: MaskSchema | undefined = members
  for (const [index, name] of path.entries()) {
    if (within.kind === 'array')
      return `names a part of an array, ${fieldPath(path)}: name ${fieldPath(path.slice(0, index))} as a whole`
    within = memberOf(within, name)
    if (!within) return `names ${fieldPath(path)}, which is not a member`
  }
  return undefined
}

const memberOf = (within: MaskSchema, name: string): MaskSchema | undefined => {
  if (within.kind === 'object') return within.members.get(name)
  return within.kind === 'map' && /^[A-Za-z0-9_-]+$/.test(name) ? within.entry : undefined
}

type MutableMask = Map<string, MutableMask | 'whole'>

const maskOf = (paths: readonly string[][]): ReadMask => {
  const mask: MutableMask = new Map()
  for (const path of paths) addPath(mask, path)
  return mask
}

const addPath = (mask: MutableMask, [name, ...rest]: readonly string[]): void => {
  const known = mask.get(name!)
  if (known === 'whole') return
  if (rest.length === 0) mask.set(name!, 'whole')
  else {
    const inner: MutableMask = known ?? new Map()
    mask.set(name!, inner)
    addPath(inner, rest)
  }
}
