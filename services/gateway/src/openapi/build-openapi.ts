import { apiError } from '@fms/aip'
import {
  allOperations,
  type NamedOperation,
  type Operation,
  type Reason,
  type ReasonName,
  reasons,
  reasonsOf,
} from '@fms/contracts'
import { z } from 'zod'
import { description } from './description.ts'
import { type Examples, examples } from './examples.ts'
import { headerRefs, headers, headersOf } from './headers.ts'
import { parameters, queryParameters } from './parameters.ts'
import { publishRefusals } from './publish-refusals.ts'
import { componentSchemas, refTo, type Schema, schemaOf } from './schemas.ts'

/** Builds the OpenAPI 3.1 document from the contracts that validate requests and responses. */
export const buildOpenApi = () => ({
  openapi: '3.1.1',
  info: {
    title: 'Form management',
    version: '2.0',
    summary: 'Organizations, forms, and the revisions that publishing makes.',
    description,
    license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/v2' }],
  security: [{ apiKey: [] }],
  tags,
  paths: Object.fromEntries(
    [...Map.groupBy(allOperations, ({ path }) => path)].map(([path, ofPath]) => [
      path,
      pathItem(path, ofPath),
    ]),
  ),
  components: {
    schemas: componentSchemas(),
    parameters,
    headers,
    examples: Object.fromEntries(reasonNames.map((name) => [name, exampleOf(name)])),
    securitySchemes: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: '`fms_` and 43 letters, digits, `_` and `-`. A key acts as the user who owns it.',
      },
    },
  },
})

const tags = [
  { name: 'Organizations', description: 'The owners of forms. Operators create and change them.' },
  {
    name: 'Forms',
    description: 'A form is a draft. Edits change the draft only; respondents see what was published last.',
  },
  { name: 'Revisions', description: 'Published copies of drafts. Only their `alternateIds` can change.' },
  {
    name: 'Events',
    description: 'The log of an organization: one event for each change of a form, numbered without gaps.',
  },
  {
    name: 'Keys',
    description:
      'The caller, and the API keys of the user. A key cannot create one with more rights than its own.',
  },
  { name: 'Reference', description: 'The description of this API, and the console. No key is needed.' },
]

const reasonNames = [...new Set(allOperations.flatMap(reasonsOf))].sort()

/** A constant, so that the document does not change between starts. */
const exampleRequestId = '7e4fe4f4-93f0-4b7c-b0a5-1b1e1a1c5a37'

const exampleError = (name: ReasonName) => {
  const { metadata, fieldViolations, preconditionViolations }: Reason = reasons[name]
  return apiError(name, metadata as never, { fieldViolations, preconditionViolations })
}

const exampleOf = (name: ReasonName) => ({
  summary: reasons[name].meaning,
  value: exampleError(name).toBody(exampleRequestId),
})

const componentRef = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

const pathItem = (path: string, ofPath: NamedOperation[]) => ({
  parameters: [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => componentRef('parameters', name!)),
    componentRef('parameters', 'x-request-id'),
  ],
  ...Object.fromEntries(
    ofPath.map((operation) => [operation.method.toLowerCase(), operationObject(operation)]),
  ),
})

const operationObject = (operation: NamedOperation) => {
  const { id, tag, summary, description, header, body, response } = operation
  const { request: ofBody, response: ofResponse }: Examples = examples[id]
  const parameters = [...(header ? [componentRef('parameters', header)] : []), ...queryParameters(operation)]
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(operation.access === 'anyone' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: contentOf('application/json', referenceTo(body, 'input'), ofBody),
      },
    }),
    responses: {
      200: {
        description: response.description,
        headers: headerRefs(
          ...headersOf(operation),
          ...(response.hasETag ? (['etag'] as const) : []),
          ...(response.isReplayable ? (['x-request-replayed'] as const) : []),
        ),
        content: contentOf(
          response.mediaType ?? 'application/json',
          referenceTo(response.schema, 'output'),
          ofResponse,
        ),
      },
      ...(header === 'if-none-match' && {
        304: {
          description: 'The ETag is that of `If-None-Match`.',
          headers: headerRefs(...headersOf(operation), 'etag'),
        },
      }),
      ...errorResponses(operation),
    },
  }
}

const contentOf = (mediaType: string, schema: Schema, examples: Record<string, unknown> = {}) => ({
  [mediaType]: {
    schema,
    ...(Object.keys(examples).length > 0 && {
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    }),
  },
})

/** A reference to the component of a schema with an id; for a union, to those of its members. */
const referenceTo = (schema: z.ZodType, io: 'input' | 'output'): Schema => {
  if (schema instanceof z.ZodUnion) {
    return { anyOf: schema.options.map((option) => referenceTo(option as z.ZodType, io)) }
  }
  if (schema instanceof z.ZodPrefault) return referenceTo(schema.unwrap() as z.ZodType, io)
  const { id } = schema.meta() ?? {}
  return id ? refTo(id) : schemaOf(schema, io)
}

const errorResponses = (operation: Operation) => {
  const byCode = Map.groupBy(reasonsOf(operation), (reason) => exampleError(reason).httpStatus)
  return Object.fromEntries(
    [...byCode].map(([code, names]) => {
      const repeatable = names.some((name) => reasons[name].retryAfterSeconds !== undefined)
      return [
        code,
        {
          description: names.map((name) => `- \`${name}\`: ${reasons[name].meaning}`).join('\n'),
          headers: headerRefs(
            ...headersOf(operation),
            ...(code === 401 ? (['vary', 'www-authenticate'] as const) : []),
            ...(repeatable ? (['retry-after'] as const) : []),
          ),
          content: {
            'application/json': {
              schema: refTo('ErrorBody'),
              examples: Object.fromEntries([
                ...names.map((name) => [name, componentRef('examples', name)]),
                ...refusalsBy(names),
              ]),
            },
          },
        },
      ]
    }),
  )
}

/** Examples of the ways in which a publish is refused, for an operation with their reasons. */
const refusalsBy = (names: ReasonName[]) =>
  publishRefusals
    .filter(({ error }) => names.includes(error.reason as ReasonName))
    .map(({ type, error }) => [`${error.reason}: ${type}`, { value: error.toBody(exampleRequestId) }])
