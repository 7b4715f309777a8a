import { z } from 'zod'

type Schema = z.core.JSONSchema.BaseSchema

const prefix = '#/components/schemas/'

export const refTo = (name: string): { $ref: string } => ({ $ref: `${prefix}${name}` })

/**
 * Converts contracts to JSON Schema draft 7, which the schemas of AsyncAPI extend. Schemas with an id become components of
 * their own.
 */
export const componentSchemas = (contracts: Record<string, z.ZodType>): Record<string, Schema> =>
  Object.assign({}, ...Object.entries(contracts).map(([name, contract]) => componentsOf(name, contract)))

const componentsOf = (name: string, contract: z.ZodType): Record<string, Schema> => {
  const {
    $schema: _,
    $id: __,
    id: ___,
    definitions = {},
    ...schema
  } = z.toJSONSchema(contract, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // The format says the same, in fewer words.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    },
  }) as Schema
  return withRootRefs({ [name]: schema, ...(definitions as Record<string, Schema>) })
}

/** References in an AsyncAPI document start at its root. */
const withRootRefs = (schemas: Record<string, Schema>): Record<string, Schema> =>
  JSON.parse(JSON.stringify(schemas), (key, value) =>
    key === '$ref' ? value.replace('#/definitions/', prefix) : value,
  )
