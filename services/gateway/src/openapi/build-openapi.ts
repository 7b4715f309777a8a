import { apiError, ifMatchPattern } from '@fms/aip'
import { type Reason, type ReasonName, reasons } from '@fms/contracts'
import { z } from 'zod'
import { type Operation, operations, pathParameters, tags } from './operations.ts'
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
    [...Map.groupBy(operations, ({ path }) => path)].map(([path, ofPath]) => [path, pathItem(path, ofPath)]),
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

const description = `
The API follows [Google's API Improvement Proposals](https://google.aip.dev).

- Bodies are JSON objects in UTF-8, at most 1 MiB, nested at most 64 levels. Unknown members, unknown query parameters
  and parameters that are given twice are a 400.
- \`HEAD\` responds as \`GET\`, without a body. Another method on a known path is a 405 with the header \`Allow\`.
- Responses may gain members: ignore unknown ones.
- Every error response has an ErrorBody. Programs should use the \`reason\` of its ErrorInfo.
- Writes, except for sign-ins, accept \`validateOnly: true\`: every check runs, the response is that of the real request,
  and nothing is stored.
- Writes of forms and the create of a key accept a \`requestId\` (AIP-155): a repeat with the same id, target and body is
  not carried out again.
- Malformed HTTP, and a head over 64 KiB, gets a 400, 408 or 431 without a body.
`.trim()

const reasonNames = [...new Set(operations.flatMap((operation) => operation.reasons))].sort()

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

const headers = {
  'x-request-id': {
    description: "The request's id, which is also in the log lines of every service.",
    schema: { type: 'string', maxLength: 128 },
  },
  'cache-control': {
    description:
      '`no-store` with an error. Where a key is needed, `private, no-cache`; `private, max-age=31536000, immutable` for a revision by UUID with a `readMask` without `alternateIds`.',
    schema: { type: 'string' },
  },
  vary: {
    description: 'The request headers that the response depends on; `x-api-key` is one of them.',
    schema: { type: 'string' },
  },
  etag: {
    description:
      "The form's state (AIP-154). Absent on dry runs. Send it back as it came, quotes included, in `If-Match` or `If-None-Match`.",
    schema: { type: 'string' },
    example: '"3-live.12"',
  },
  'x-request-replayed': {
    description:
      '`true` if a request with this `requestId` was carried out before: the response has the form as it is now. Otherwise absent.',
    schema: { type: 'string', const: 'true' },
  },
  'retry-after': {
    description: 'Seconds after which a repeat may help.',
    schema: { type: 'integer', minimum: 0 },
  },
  'www-authenticate': { schema: { type: 'string', const: 'ApiKey realm="forms"' } },
  'ratelimit-limit': {
    description: 'Requests that the key may send in a minute. Absent where the operator sets no limit.',
    schema: { type: 'integer', minimum: 1 },
  },
  'ratelimit-remaining': {
    description: 'Requests left in this minute.',
    schema: { type: 'integer', minimum: 0 },
  },
  'ratelimit-reset': {
    description: 'Seconds until the next minute begins.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const headerRefs = (...names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, componentRef('headers', name)]))

/** Without an example, which the reference page would send with every request. */
const requestHeader = (name: string, description: string, schema: Schema) => ({
  name,
  in: 'header',
  description,
  schema,
})

const parameters = {
  ...Object.fromEntries(
    Object.entries(pathParameters).map(([name, { description, example }]) => [
      name,
      { name, in: 'path', required: true, description, schema: { type: 'string' }, example },
    ]),
  ),
  'x-request-id': requestHeader(
    'x-request-id',
    'Your own id for this request: 1 to 128 visible ASCII characters. Anything else is replaced.',
    { type: 'string' },
  ),
  'if-match': requestHeader(
    'if-match',
    'Rejects the request (412) unless the draft has this ETag, such as `"3-live.12"`. `*` matches any existing form.',
    { type: 'string', pattern: ifMatchPattern },
  ),
  'if-none-match': requestHeader(
    'if-none-match',
    'Responds with 304 while the form has this ETag, such as `"3-live.12"`.',
    { type: 'string' },
  ),
  'last-event-id': requestHeader(
    'last-event-id',
    'The last `id` of an interrupted stream, which continues after it. Takes precedence over `afterSequence`.',
    { type: 'string', pattern: '^[0-9]{0,16}$' },
  ),
}

const pathItem = (path: string, ofPath: Operation[]) => ({
  parameters: [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => componentRef('parameters', name!)),
    componentRef('parameters', 'x-request-id'),
  ],
  ...Object.fromEntries(ofPath.map((operation) => [operation.method, operationObject(operation)])),
})

const operationObject = (operation: Operation) => {
  const { id, tag, summary, description, requestHeaders, body, response } = operation
  const parameters = [
    ...(requestHeaders ? [componentRef('parameters', requestHeaders)] : []),
    ...queryParameters(operation),
  ]
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(isPublic(operation) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: body.required,
        content: contentOf('application/json', referenceTo(body.contract, 'input'), body.examples),
      },
    }),
    responses: {
      200: {
        description: response.description,
        headers: headerRefs(
          ...headersOf(operation),
          ...(response.etag ? (['etag'] as const) : []),
          ...(response.replayable ? (['x-request-replayed'] as const) : []),
        ),
        content: contentOf(
          response.mediaType ?? 'application/json',
          referenceTo(response.contract, 'output'),
          response.examples,
        ),
      },
      ...(requestHeaders === 'if-none-match' && {
        304: {
          description: 'The ETag is that of `If-None-Match`.',
          headers: headerRefs(...headersOf(operation), 'etag'),
        },
      }),
      ...errorResponses(operation),
    },
  }
}

const isPublic = ({ reasons }: Operation) => !reasons.includes('API_KEY_INVALID')

/** The headers of every response. A 401 has those of the rate limit only if the key ends during the request. */
const headersOf = (operation: Operation): (keyof typeof headers)[] =>
  isPublic(operation)
    ? ['x-request-id', 'cache-control']
    : ['x-request-id', 'cache-control', 'vary', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

const queryParameters = ({ query, filterFields, orderFields }: Operation) => {
  const { properties = {} } = schemaOf(query, 'input')
  const fields: Record<string, string | undefined> = { filter: filterFields, orderBy: orderFields }
  return Object.entries(properties as Record<string, Schema>).map(
    ([name, { description = '', ...schema }]) => ({
      name,
      in: 'query',
      description: fields[name] ? `${description} Fields: ${fields[name]}.` : description,
      schema,
    }),
  )
}

const contentOf = (mediaType: string, schema: Schema, examples: Record<string, unknown> = {}) => ({
  [mediaType]: {
    schema,
    ...(Object.keys(examples).length > 0 && {
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    }),
  },
})

/** A reference to the component of a contract with an id; for a union, to those of its members. */
const referenceTo = (contract: z.ZodType, io: 'input' | 'output'): Schema => {
  if (contract instanceof z.ZodUnion) {
    return { anyOf: contract.options.map((option) => referenceTo(option as z.ZodType, io)) }
  }
  if (contract instanceof z.ZodPrefault) return referenceTo(contract.unwrap() as z.ZodType, io)
  const { id } = contract.meta() ?? {}
  return id ? refTo(id) : schemaOf(contract, io)
}

const errorResponses = (operation: Operation) => {
  const byCode = Map.groupBy(operation.reasons, (reason) => exampleError(reason).httpStatus)
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
              examples: Object.fromEntries(names.map((name) => [name, componentRef('examples', name)])),
            },
          },
        },
      ]
    }),
  )
}
