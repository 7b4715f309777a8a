import type { OperationId } from '@fms/contracts'
import type { buildOpenApi } from './build-openapi.ts'
import type { Schema } from './schemas.ts'

type Document = ReturnType<typeof buildOpenApi>
type Named = Record<string, object>

/** With these ten, a program makes a form, publishes it and takes it down. */
const operationIds = new Set<unknown>([
  'getWhoami',
  'listForms',
  'createForm',
  'checkForm',
  'getForm',
  'updateForm',
  'deleteForm',
  'getChanges',
  'publishForm',
  'unpublishForm',
] satisfies OperationId[])

/** The errors whose details say what to correct. */
const explained = ['INVALID_REQUEST', 'FORM_MOVED', 'DRAFT_NOT_PUBLISHABLE', 'BREAKING_CHANGES']

const prefix = '#/components/'

const longestPattern = 60

/**
 * Ten operations and their schemas in 60 KB at most, to be read as a whole: one response for all errors, the schemas of
 * requests for responses, all types of steps in one schema.
 */
export const essentialView = (document: Document): Document => {
  const { StepInput, ...schemas } = document.components.schemas
  const shared = sharedReasons(document)
  const shown = new Set<string>()
  const paths = Object.entries(document.paths).flatMap(([path, item]) => {
    const { parameters } = item as { parameters: { $ref: string }[] }
    const essential = operationsOf(item).map(([method, operation]) => [
      method,
      essentialOperation(operation, shared, shown),
    ])
    if (essential.length === 0) return []
    const ofPath = parameters.filter(({ $ref }) => !$ref.endsWith('x-request-id'))
    return [[path, { parameters: ofPath, ...Object.fromEntries(essential) }]]
  })
  const view = {
    ...document,
    info: {
      ...document.info,
      description: `${document.info.description}\n\nErrors of every operation: ${[...shared].join(', ')}.`,
    },
    tags: document.tags.filter(({ name }) => JSON.stringify(paths).includes(`"tags":["${name}"]`)),
    paths: Object.fromEntries(paths),
    components: {
      ...document.components,
      schemas: { ...schemas, StepInput: mergedVariants(StepInput!, schemas) },
    },
  }
  return withUsedComponents(withSchemasOfRequests(view))
}

interface Body {
  description: string
  headers?: Record<string, object>
  content?: Record<string, { schema: object; examples?: Named }>
}
interface OperationObject {
  operationId: string
  responses: Record<string, Body>
}

const operationsOf = (item: object) =>
  Object.entries(item as Record<string, OperationObject>).filter(([, { operationId }]) =>
    operationIds.has(operationId),
  )

const examplesOf = ({ content = {} }: Body): Named => Object.values(content)[0]?.examples ?? {}

/** The reasons of an operation, such as `412 FORM_MOVED`. */
const reasonsIn = ({ responses }: OperationObject) =>
  Object.entries(responses).flatMap(([code, response]) =>
    code < '400'
      ? []
      : Object.keys(examplesOf(response))
          .filter((name) => !name.includes(': '))
          .map((name) => `${code} ${name}`),
  )

/** The reasons that all essential operations have. */
const sharedReasons = (document: Document) =>
  Object.values(document.paths)
    .flatMap(operationsOf)
    .map(([, operation]) => new Set(reasonsIn(operation)))
    .reduce((shared, reasons) => shared.intersection(reasons))

/** @param shown the schemas that have had an example. The first of those with a form is enough for all. */
const essentialOperation = (operation: OperationObject, shared: Set<string>, shown: Set<string>) => {
  const { 200: success, ...responses } = operation.responses
  const examples = Object.assign({}, ...Object.values(responses).map(examplesOf)) as Named
  return {
    ...operation,
    responses: {
      200: withExampleOnce(success!, shown),
      default: {
        description: `An error of every operation, or: ${reasonsIn(operation)
          .filter((reason) => !shared.has(reason))
          .join(', ')}`,
        content: {
          'application/json': {
            schema: { $ref: `${prefix}schemas/ErrorBody` },
            examples: Object.fromEntries(
              Object.entries(examples).filter(([name]) => explained.includes(name)),
            ),
          },
        },
      },
    },
  }
}

const withExampleOnce = ({ description, headers = {}, content = {} }: Body, shown: Set<string>): Body => ({
  description,
  ...(headers.etag && { headers: { etag: headers.etag } }),
  content: Object.fromEntries(
    Object.entries(content).map(([type, { schema, examples }]) => {
      const kind = JSON.stringify(examples).includes('"publicUrl"') ? 'a form' : JSON.stringify(schema)
      const isShown = shown.has(kind)
      shown.add(kind)
      return [type, { schema, ...(!isShown && examples && { examples }) }]
    }),
  ),
})

/** A schema with the members of all variants of a union. Descriptions say what each variant has. */
const mergedVariants = (union: Schema, schemas: Record<string, Schema>): Schema => {
  const variants = [...JSON.stringify(union).matchAll(/schemas\/(\w+)"/g)].map(([, name]) => schemas[name!]!)
  const typeOf = ({ properties }: Schema) => (properties?.type as Schema | undefined)?.const
  const known = variants.filter(typeOf)
  const open = variants.find((variant) => !typeOf(variant))
  const members = Map.groupBy(
    known.flatMap((variant) =>
      Object.entries(variant.properties as Record<string, Schema>)
        .filter(([name]) => !(name in (open?.properties ?? {})))
        .map(([name, schema]) => ({ name, schema, type: `\`${typeOf(variant)}\`` })),
    ),
    ({ name }) => name,
  )
  const merged = [...members].map(([name, all]) => {
    const meanings = [...Map.groupBy(all, ({ schema }) => schema.description)].map(
      ([meaning, of]) => `${of.map(({ type }) => type).join(', ')}: ${meaning}`,
    )
    const isOne = new Set(all.map(({ schema }) => JSON.stringify(schema))).size === 1
    const { description: _, ...schema } = all[0]!.schema
    return [name, { ...(isOne && schema), description: meanings.join(' ') }]
  })
  const types = known.map((variant) => `- \`${typeOf(variant)}\`: ${variant.description ?? ''}`)
  const { not: _, ...rest } = open ?? {}
  return {
    ...rest,
    properties: {
      ...open?.properties,
      ...Object.fromEntries(merged),
      type: {
        ...(open?.properties?.type as Schema),
        description: 'One of the types in the description, or one of your own.',
      },
    },
    description: [union.description, ...types].filter(Boolean).join('\n'),
  }
}

/**
 * Replaces `Form` and `FormPatch` by `FormInput`, which has the same members, and so on. Removes long patterns, which
 * descriptions have in words, and summaries of examples.
 */
const withSchemasOfRequests = (document: Document): Document => {
  const { schemas } = document.components
  const inputOf = (name: string) => {
    const input = `${name.replace(/Patch$/, '')}Input`
    return input in schemas ? input : name
  }
  return JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === 'pattern' && value.length > longestPattern) return undefined
    if (value?.summary && value.value) return { value: value.value }
    const [, name] = (key === '$ref' && /schemas\/(\w+)$/.exec(value)) || []
    return name ? `${prefix}schemas/${inputOf(name)}` : value
  })
}

/** Without the components to which nothing leads. */
const withUsedComponents = (document: Document): Document => {
  const components = document.components as Record<string, Named>
  const used = new Set<string>()
  const use = (part: unknown) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/([\w/.-]+)"/g)) {
      if (used.has(name!)) continue
      used.add(name!)
      const [kind, id] = name!.split('/')
      use(components[kind!]![id!])
    }
  }
  use(document.paths)
  return {
    ...document,
    components: Object.fromEntries(
      Object.entries(components).map(([kind, named]) => [
        kind,
        Object.fromEntries(
          Object.entries(named).filter(([id]) => kind === 'securitySchemes' || used.has(`${kind}/${id}`)),
        ),
      ]),
    ) as Document['components'],
  }
}
