import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { allOperations, operations } from '@fms/contracts'
import { buildOpenApi } from '../../services/gateway/src/openapi/build-openapi.ts'

const root = join(import.meta.dirname, '../..')

/** The schemas that the client exports, with those that they use. It has types of its own for pages. */
const roots = [
  ...allOperations.map(({ response }) => String(response.schema.meta()?.id)),
  ...['DeletedForm', 'ErrorBody', 'FormPatch', 'NewKeyInput'],
].filter((id) => !/^(undefined|Empty|\w+Page)$/.test(id))

/** Schemas that have another name in the client. */
const renamed: Record<string, string> = {
  Event: 'FormEvent',
  EventData: 'FormEventData',
  FieldViolationInput: 'FieldViolation',
  NewKeyInput: 'KeyInput',
}

/** The types of the fields that lists can be sorted by, and the operations that name the fields. */
const orderFields = {
  FormOrderField: operations.listForms,
  EventOrderField: operations.listEvents,
  OrganizationOrderField: operations.listOrganizations,
}

const orderFieldTypes = (): string =>
  Object.entries(orderFields)
    .map(([name, { method, path, orderFields }]) => {
      const union = orderFields.map((field) => `'${field}'`).join(' | ')
      return `/** A field that \`orderBy\` of \`${method} ${path}\` may name. */\nexport type ${name} = ${union}\n`
    })
    .join('\n')

// biome-ignore lint/suspicious/noExplicitAny: JSON Schemas, in which anything may be.
type Schemas = Record<string, any>

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const jsonTypes = ['string', 'number', 'boolean', 'null'].map((type) => ({ type }))

/** The schemas of the document, changed where TypeScript can say more than generators for other languages understand. */
const schemas = (): Schemas => {
  const text = JSON.stringify(buildOpenApi().components.schemas, (key, value) => {
    const isIgnored = String(value?.description).startsWith('Ignored:')
    if (isIgnored || (key === 'readOnly' && value === true) || key === 'examples') return undefined
    if (typeof value?.format !== 'string') return value
    const { format, description = '', ...schema } = value
    return schema.type === 'string'
      ? { ...schema, description: `${description} Format: ${format}.`.trim() }
      : { ...schema, ...(description && { description }) }
  })
  const all: Schemas = JSON.parse(text)
  all.JsonValue = {
    description: 'Any value that JSON can hold.',
    anyOf: [
      ...jsonTypes,
      { type: 'array', items: refTo('JsonValue') },
      { type: 'object', additionalProperties: refTo('JsonValue') },
    ],
  }
  Object.assign(all.Organization.properties.metadata, refTo('JsonValue'))
  all.OperatorActor.properties.operator.const = true
  all.OpenType = {
    type: 'string',
    description:
      'A type of steps that is not in the catalogue, made by `openType`. No value has the prefix, which tells the compiler that it is none of the others.',
  }
  for (const name of ['OpenStep', 'OpenStepInput']) all[name].properties.type = refTo('OpenType')
  const used = new Set(roots)
  // A set also iterates over what is added meanwhile.
  for (const name of used) {
    for (const [, id] of JSON.stringify(all[name]).matchAll(/schemas\/(\w+)"/g)) used.add(id!)
  }
  return Object.fromEntries([...used].sort().map((name) => [name, all[name]]))
}

/** The types of the client, from the OpenAPI document. */
export const clientTypes = async (): Promise<string> => {
  // Not hoisted, because it needs TypeScript 5.
  const require = createRequire(join(root, 'tools/generated-clients/package.json'))
  const { default: openapiTS, astToString } = require('openapi-typescript')
  const document = { openapi: '3.1.1', info: { title: '', version: '' }, components: { schemas: schemas() } }
  const [, declarations] = astToString(await openapiTS(document)).match(/^ {4}schemas: \{\n(.*?)^ {4}\};$/ms)!
  const types = declarations
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, (_: string, name: string) => renamed[name] ?? name)
    .replaceAll(/^ {8}(\w+): /gm, (_: string, name: string) => `export type ${renamed[name] ?? name} = `)
    .replaceAll('@description ', '')
    .replaceAll(/\{\s+(\[key: string\]: .*);\s+\}/g, '{ $1 }')
    .replaceAll(' | null }', ' | null | undefined }')
    .replaceAll('} & { [key: string]: unknown }', '  [key: string]: unknown }')
    .replace('export type OpenType = string;', `export type OpenType = \`open: \${string}\`;`)
    .replaceAll(/ *(\/\*\*|\*) @(constant|enum \{string\})( \*\/)?\n/g, '')
  const input = `// Generated from the OpenAPI document by npm run generate.\n\n${types}\n${orderFieldTypes()}`
  const biome = join(root, 'node_modules/.bin/biome')
  return execFileSync(biome, ['format', '--stdin-file-path=types.ts'], { input, encoding: 'utf8' })
}
