import { serverOwnedFields, unclearableFields } from '@fms/contracts'
import { z } from 'zod'

/** A JSON Schema, or a part of one. */
export type Schema = z.core.JSONSchema.BaseSchema
type Schemas = Record<string, Schema>

const prefix = '#/components/schemas/'

export const refTo = (name: string): Schema => ({ $ref: `${prefix}${name}` })

/**
 * The component schemas, from the contracts that have an id: as answers show a resource; as requests may write it
 * (`…Input`, where that differs); and as a merge patch of it (`…Patch`, RFC 7396).
 */
export const componentSchemas = (): Schemas => {
  const answers = contractsAs('output')
  const inputs = contractsAs('input')
  for (const schemas of [answers, inputs]) schemas.Step = exclusive(schemas.Step!)
  for (const field of serverOwnedFields) propertiesOf(answers.Form!)[field]!.readOnly = true

  const isShared = (id: string) => isDeepEqual(answers[id], inputs[id]) && !hasRefs(inputs[id]!)
  const inputName = (id: string) =>
    isShared(id) || id.endsWith('FormRequest') ? id : `${resourceOf(id)}Input`
  const requests = Object.fromEntries(
    Object.entries(inputs)
      .filter(([id]) => id !== 'Form') // The name goes to what a maker writes of it.
      .map(([id, schema]) => [inputName(id), withRefs(schema, inputName)]),
  )
  const patches = patchesOf(inputs, 'FormDraft', inputName)

  const ignored = Object.fromEntries(
    serverOwnedFields.map((name) => [name, propertiesOf(answers.Form!)[name]!]),
  )
  for (const form of [requests.FormInput!, patches.FormPatch!]) Object.assign(propertiesOf(form), ignored)
  propertiesOf(requests.CreateFormRequest!).form = refTo('FormInput')
  propertiesOf(requests.UpdateFormRequest!).form = refTo('FormPatch')
  requests.FormInput!.description =
    'What a maker owns of a form, at most 768 KiB as JSON. Whatever is left out takes its default.'

  return onlyUsed({ ...answers, ...patches, ...requests }, [
    ...Object.keys(answers).filter((name) => name.endsWith('Response')),
    ...['ErrorBody', 'Form', 'Organization', 'Revision'],
    ...Object.keys(requests).filter((name) => name.endsWith('FormRequest')),
  ])
}

/** No value is of two variants: generators make more of a document that says so. */
const exclusive = ({ anyOf, ...schema }: Schema): Schema => ({ ...schema, oneOf: anyOf })

/** The schema of a query or a body that has no id. */
export const schemaOf = (contract: z.ZodType, io: 'input' | 'output'): Schema =>
  plain(z.toJSONSchema(contract, { io, override: override(io) }) as Schema)

const contractsAs = (io: 'input' | 'output'): Schemas => {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io,
    uri: (id) => `${prefix}${id}`,
    override: override(io),
  })
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([id]) => id !== '__shared' && id !== 'JsonValue')
      .map(([id, schema]) => [id, plain(schema)]),
  )
}

const plain = ({ $schema: _, $id: __, ...schema }: Schema): Schema => schema

/**
 * Formats say more than the patterns that Zod adds to them, and any JSON value needs no schema. Answers have every
 * field, so that defaults say nothing there, and may gain further ones.
 */
const override =
  (io: 'input' | 'output') =>
  ({ jsonSchema }: { jsonSchema: Schema }) => {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    if (JSON.stringify(jsonSchema.anyOf)?.includes('/JsonValue"')) delete jsonSchema.anyOf
    if (io === 'input') return
    delete jsonSchema.default
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  }

/** `FormDraft` is what a maker writes of a form. */
const resourceOf = (id: string) => (id === 'FormDraft' ? 'Form' : id)

/** The merge patches of a resource and of what it consists of; lists are replaced whole, by inputs. */
const patchesOf = (inputs: Schemas, root: string, inputName: (id: string) => string): Schemas => {
  const patches: Schemas = {}

  const patchRef = (ref: string): Schema => {
    const id = ref.slice(prefix.length)
    if (inputs[id]?.type !== 'object') return refTo(inputName(id))
    const name = `${resourceOf(id)}Patch`
    patches[name] ??= patchOf(inputs[id]!, id === root ? unclearableFields : [])
    return refTo(name)
  }
  const patchOf = (
    { default: _, required: __, ...schema }: Schema,
    unclearable: readonly string[],
  ): Schema => {
    if (schema.$ref) return { ...schema, ...patchRef(schema.$ref) }
    if (schema.type === 'array') return withRefs(schema, inputName)
    const { properties, additionalProperties: further } = schema
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties as Schemas).map(([name, property]) => {
            const patch = patchOf(property, [])
            return [name, unclearable.includes(name) ? patch : orNull(patch)]
          }),
        ),
      }),
      ...(typeof further === 'object' && { additionalProperties: orNull(patchOf(further as Schema, [])) }),
    }
  }

  patchRef(`${prefix}${root}`)
  patches.FormPatch!.description =
    'A JSON Merge Patch (RFC 7396) of a form: what is left out stays as it is, `null` clears, lists are replaced whole.'
  return patches
}

const orNull = ({ description, ...schema }: Schema): Schema => ({
  ...(typeof schema.type === 'string' && !schema.enum
    ? { ...schema, type: [schema.type, 'null'] as never }
    : { anyOf: [schema, { type: 'null' }] }),
  ...(description && { description }),
})

/** The same schema with references to other names. */
const withRefs = (schema: Schema, nameOf: (id: string) => string): Schema =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' ? `${prefix}${nameOf(value.slice(prefix.length))}` : value,
  )

const onlyUsed = (schemas: Schemas, roots: string[]): Schemas => {
  const used = new Set<string>()
  const use = (name: string) => {
    if (used.has(name)) return
    used.add(name)
    for (const [, id] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)/g)) use(id!)
  }
  roots.forEach(use)
  return Object.fromEntries([...used].sort().map((name) => [name, schemas[name]!]))
}

const propertiesOf = (schema: Schema) => schema.properties as Schemas
const hasRefs = (schema: Schema) => JSON.stringify(schema).includes('"$ref"')
const isDeepEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
