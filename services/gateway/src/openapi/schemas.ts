import { allOperations, outputOnlyFields, unclearableFields } from '@fms/contracts'
import { z } from 'zod'

export type Schema = z.core.JSONSchema.BaseSchema
type Schemas = Record<string, Schema>

const prefix = '#/components/schemas/'

export const refTo = (name: string): Schema => ({ $ref: `${prefix}${name}` })

/**
 * The component schemas, from the contracts with an id: as in responses, in creates (`…Input`, or `…Create` where lists
 * contain it too), and in merge patches (`…Patch`, RFC 7396).
 */
export const componentSchemas = (): Schemas => {
  const outputs = contractsAs('output')
  const inputs = contractsAs('input')
  for (const field of outputOnlyFields) propertiesOf(outputs.Form!)[field]!.readOnly = true

  const isShared = (id: string) => isDeepEqual(outputs[id], inputs[id]) && !hasRefs(inputs[id]!)
  const inputName = (id: string) => (isShared(id) || id.endsWith('Request') ? id : `${resourceOf(id)}Input`)
  const requests = Object.fromEntries(
    Object.entries(inputs)
      .filter(([id]) => id !== 'Form') // `FormInput` is the name of FormDraft as an input.
      .map(([id, schema]) => [inputName(id), withRefs(schema, inputName)]),
  )
  const draft = onlyUsed(inputs, ['FormDraft'])
  const listed = inLists(draft)
  const creates = mergedOf(draft, {
    inputName,
    mergedName: (id) => `${resourceOf(id)}${listed.has(id) ? 'Create' : 'Input'}`,
    adapt: (schema) => schema,
  })
  const patches = mergedOf(draft, {
    inputName,
    mergedName: (id) => `${resourceOf(id)}Patch`,
    adapt: withoutRequired,
  })

  const ignored = Object.fromEntries(
    outputOnlyFields.map((name) => [name, propertiesOf(outputs.Form!)[name]!]),
  )
  for (const form of [creates.FormInput!, patches.FormPatch!]) Object.assign(propertiesOf(form), ignored)
  propertiesOf(requests.CreateFormRequest!).form = refTo('FormInput')
  propertiesOf(requests.CheckFormRequest!).form = refTo('FormInput')
  propertiesOf(requests.UpdateFormRequest!).form = refTo('FormPatch')
  creates.FormInput!.description =
    'The members of a form that clients write, at most 768 KiB as JSON. An omitted member and `null` mean the default.'
  patches.FormPatch!.description =
    'A JSON Merge Patch (RFC 7396) of a form: omitted members stay unchanged, `null` clears, lists are replaced as a whole.'

  return onlyUsed({ ...outputs, ...requests, ...creates, ...patches }, [
    'ErrorBody',
    ...responseNames,
    ...Object.keys(requests).filter((name) => name.endsWith('Request')),
  ])
}

const responseNames = allOperations.flatMap(({ response: { schema } }) => {
  const schemas = schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]) : [schema]
  return schemas.flatMap((each) => each.meta()?.id ?? [])
})

/** The schema of a query, or of a body without an id. */
export const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema =>
  plain(z.toJSONSchema(schema, { io, override: override(io) }) as Schema)

const contractsAs = (io: 'input' | 'output'): Schemas => {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io,
    uri: (id) => `${prefix}${id}`,
    override: (context) => {
      if (io === 'input') describeDefault(context.jsonSchema)
      override(io)(context)
    },
  })
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([id]) => id !== '__shared' && id !== 'JsonValue')
      .map(([id, schema]) => [id, plain(schema)]),
  )
}

const plain = ({ $schema: _, $id: __, ...schema }: Schema): Schema => schema

/**
 * Removes patterns beside formats, and the schema of any JSON value. {@link describeDefault} says the defaults;
 * responses allow further fields.
 */
const override =
  (io: 'input' | 'output') =>
  ({ jsonSchema }: { jsonSchema: Schema }) => {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    if (JSON.stringify(jsonSchema.anyOf)?.includes('/JsonValue"')) delete jsonSchema.anyOf
    setNumberFormat(jsonSchema)
    // The Java client of openapi-generator does not compile with it.
    if (jsonSchema.type === 'boolean') delete jsonSchema.const
    delete jsonSchema.default
    if (io === 'input') return
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  }

/** Without a format, generators for typed languages use 32 bits. */
const setNumberFormat = (schema: Schema): void => {
  if (schema.type === 'number') schema.format = 'double'
  if (schema.type === 'integer' && (schema.maximum ?? 0) >= 2 ** 31) schema.format = 'int64'
}

/**
 * Describes a default in words: `default` makes openapi-typescript require the member and openapi-python-client drop
 * the schema, and generated clients send it, which in a patch sets the value.
 */
const describeDefault = (schema: Schema): void => {
  const { default: value, description } = schema
  if (value === undefined || isDeepEqual(value, {})) return
  schema.description = [description, `Default: \`${JSON.stringify(value)}\`.`].filter(Boolean).join(' ')
}

/** Schemas of `FormDraft`, the part of a form that clients write, are named after `Form`. */
const resourceOf = (id: string) => (id === 'FormDraft' ? 'Form' : id)

interface Merging {
  inputName: (id: string) => string
  mergedName: (id: string) => string
  adapt: (schema: Schema) => Schema
}

/** A draft and its parts as creates and updates merge them: `null` clears a member, lists are replaced as a whole. */
const mergedOf = (inputs: Schemas, { inputName, mergedName, adapt }: Merging): Schemas => {
  const merged: Schemas = {}

  const mergedRef = (ref: string): Schema => {
    const id = ref.slice(prefix.length)
    if (inputs[id]?.type !== 'object') return refTo(inputName(id))
    const name = mergedName(id)
    merged[name] ??= merge(inputs[id]!, id === 'FormDraft' ? unclearableFields : [])
    return refTo(name)
  }
  const merge = (input: Schema, unclearable: readonly string[]): Schema => {
    const schema = adapt(input)
    if (schema.$ref) return { ...schema, ...mergedRef(schema.$ref) }
    if (schema.type === 'array') return withRefs(schema, inputName)
    const { properties, required = [], additionalProperties } = schema
    const notNull = [...unclearable, ...required]
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties as Schemas).map(([name, property]) => {
            const member = merge(property, [])
            return [name, notNull.includes(name) ? member : orNull(member)]
          }),
        ),
      }),
      ...(typeof additionalProperties === 'object' && {
        additionalProperties: orNull(merge(additionalProperties as Schema, [])),
      }),
    }
  }

  mergedRef(`${prefix}FormDraft`)
  return merged
}

/** The names of schemas that lists contain. In a list, `null` clears nothing. */
const inLists = (schemas: Schemas): Set<string> => {
  const items = JSON.stringify(schemas).matchAll(/"items":\{"\$ref":"#\/components\/schemas\/(\w+)"/g)
  const ids = [...items].map(([, id]) => id!)
  return new Set(Object.keys(onlyUsed(schemas, ids)))
}

/** Without `required`: a patch may omit every member. */
const withoutRequired = ({ required: _, ...schema }: Schema): Schema => schema

const orNull = ({ description, ...schema }: Schema): Schema => ({
  ...(typeof schema.type === 'string' && !schema.enum
    ? { ...schema, type: [schema.type, 'null'] as never }
    : { anyOf: [schema, { type: 'null' }] }),
  ...(description && { description }),
})

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
