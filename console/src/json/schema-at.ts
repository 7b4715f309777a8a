/** The parts of a JSON Schema (draft 2020-12) that the completion uses. */
export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string
  description?: string
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
}

/** A path to a value: names of members and indexes of elements. */
export type JsonPath = readonly (string | number)[]

/** The schemas that apply to the value at a path: several where the schema has alternatives, none where it is unknown. */
export const schemasAt = (root: JsonSchema, path: JsonPath): JsonSchema[] => {
  let schemas = alternativesOf(root, root)
  for (const part of path) {
    schemas = schemas
      .flatMap((schema) => memberOf(schema, part))
      .flatMap((each) => alternativesOf(root, each))
  }
  return schemas
}

const memberOf = ({ properties, additionalProperties, items }: JsonSchema, part: string | number) => {
  if (typeof part === 'number') return items ? [items] : []
  const property = properties && Object.hasOwn(properties, part) ? properties[part] : undefined
  if (property) return [property]
  return typeof additionalProperties === 'object' ? [additionalProperties] : []
}

/** A schema without references and alternatives. */
const alternativesOf = (root: JsonSchema, schema: JsonSchema): JsonSchema[] => {
  const referenced =
    schema.$ref === undefined ? [] : [root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}]
  const parts = [...referenced, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...parts.flatMap((each) => alternativesOf(root, each))]
}
