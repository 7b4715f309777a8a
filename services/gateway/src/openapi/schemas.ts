import { serverOwnedFields, unclearableFields } from '@fms/contracts'
import { z } from 'zod'

/** A JSON Schema, or a part of one. */
export type Schema = z.core.JSONSchema.BaseSchema
type Schemas = Record<string, Schema>

const prefix = '#/components/schemas/'

export const refTo = (name: string): Schema => ({ $ref: `${prefix}${name}` })

/**
 * The component schemas, from the contracts that have an id: as answers show a resource; as a create may write it
 * (`…Input`, where that differs; `…Create`, where lists hold it too); and as a merge patch of it (`…Patch`, RFC 7396).
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
    adapt: withoutDemands,
  })

  const ignored = Object.fromEntries(
    serverOwnedFields.map((name) => [name, propertiesOf(answers.Form!)[name]!]),
  )
  for (const form of [creates.FormInput!, patches.FormPatch!]) Object.assign(propertiesOf(form), ignored)
  propertiesOf(requests.CreateFormRequest!).form = refTo('FormInput')
  propertiesOf(requests.UpdateFormRequest!).form = refTo('FormPatch')
  creates.FormInput!.description =
    'What a maker owns of a form, at most 768 KiB as JSON. What is left out takes its default; `null` means left out.'
  patches.FormPatch!.description =
    'A JSON Merge Patch (RFC 7396) of a form: what is left out stays as it is, `null` clears, lists are replaced whole.'

  return onlyUsed({ ...answers, ...requests, ...creates, ...patches }, [
    ...['ErrorBody', 'Form', 'Organization', 'Revision'],
    ...['FormsPage', 'RevisionsPage', 'OrganizationsPage', 'AllOrganizations', 'Empty'],
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
 * Formats say more than the patterns that Zod adds to them, and any JSON value needs no schema. No schema has a
 * `default`: answers have every field, and {@link describeDefault} describes those of requests. Answers may gain fields.
 */
const override =
  (io: 'input' | 'output') =>
  ({ jsonSchema }: { jsonSchema: Schema }) => {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    if (JSON.stringify(jsonSchema.anyOf)?.includes('/JsonValue"')) delete jsonSchema.anyOf
    setNumberFormat(jsonSchema)
    delete jsonSchema.default
    if (io === 'input') return
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  }

/** Without a format, generators for typed languages choose 32 bits. */
const setNumberFormat = (schema: Schema): void => {
  if (schema.type === 'number') schema.format = 'double'
  if (schema.type === 'integer' && (schema.maximum ?? 0) >= 2 ** 31) schema.format = 'int64'
}

/**
 * The default of a request's member stands in its description. As a keyword, it makes openapi-typescript demand the
 * member and openapi-python-client drop the schema, and a generated client sends it: in a patch it would be a value.
 */
const describeDefault = (schema: Schema): void => {
  const { default: value, description } = schema
  if (value === undefined || isDeepEqual(value, {})) return
  schema.description = [description, `Default: \`${JSON.stringify(value)}\`.`].filter(Boolean).join(' ')
}

/** `FormDraft` is what a maker writes of a form. */
const resourceOf = (id: string) => (id === 'FormDraft' ? 'Form' : id)

interface Merging {
  inputName: (id: string) => string
  mergedName: (id: string) => string
  /** Changes each schema on the way. */
  adapt: (schema: Schema) => Schema
}

/**
 * A form's draft and what it consists of, as it is merged: into nothing by a create, into what is stored by an update.
 * In both, `null` stands for what is not there. Lists are replaced whole, by inputs.
 */
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
    const { properties, required = [], additionalProperties: further } = schema
    const demanded = [...unclearable, ...required]
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties as Schemas).map(([name, property]) => {
            const member = merge(property, [])
            return [name, demanded.includes(name) ? member : orNull(member)]
          }),
        ),
      }),
      ...(typeof further === 'object' && { additionalProperties: orNull(merge(further as Schema, [])) }),
    }
  }

  mergedRef(`${prefix}FormDraft`)
  return merged
}

/** What stands in lists, where `null` is a value like any other. */
const inLists = (schemas: Schemas): Set<string> => {
  const items = [...JSON.stringify(schemas).matchAll(/"items":\{"\$ref":"#\/components\/schemas\/(\w+)"/g)]
  return new Set(
    Object.keys(
      onlyUsed(
        schemas,
        items.map(([, id]) => id!),
      ),
    ),
  )
}

/** What is left out of a patch has its value already. */
const withoutDemands = ({ required: _, ...schema }: Schema): Schema => schema

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
