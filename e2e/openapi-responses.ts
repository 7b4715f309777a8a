import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** An HTTP response of the API with its parsed body. */
export interface ApiResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of bodies of many shapes
  body: any
}

/** The part of an OpenAPI document that the check of responses reads. */
interface Document {
  paths: Record<string, Record<string, { responses?: Record<string, Response> }>>
}
interface Response {
  headers?: object
  content?: Record<string, { examples?: object }>
}

/** Headers that the service sets. A response has none of them that the document does not declare. */
const ourHeaders = /^(cache-control|etag|retry-after|www-authenticate|x-request-id|ratelimit-)/

/**
 * Compiles an OpenAPI document to a check of responses: status, body, headers and the reason of an error. A request
 * outside of every operation must get an error.
 *
 * @returns a function that throws an Error when a response does not match the document.
 */
export const createResponseCheck = (openApi: unknown) => {
  const document = openApi as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const strict = withoutUnknownMembers(document) as object
  ajv.addSchema(strict, 'openapi')
  ajv.addSchema(withoutRequired(strict) as object, 'openapi-masked')

  const validators = new Map<string, ValidateFunction>()
  const validator = (schemas: 'openapi' | 'openapi-masked', ...pointer: string[]) => {
    const ref = `${schemas}#/${pointer.map(escapePointer).join('/')}`
    const known = validators.get(ref) ?? ajv.compile({ $ref: ref })
    validators.set(ref, known)
    return known
  }
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))

  /** @param path without `/v2`, with or without a query. */
  return (method: string, path: string, { status, headers, body }: ApiResponse): void => {
    const about = `${method} ${path.slice(0, 200)} ${status}`
    const assertValid = (validate: ValidateFunction) => {
      if (!validate(body))
        throw new Error(`${about}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`)
    }
    const { template = '' } = templates.find(({ pattern }) => pattern.test(path.split('?', 1)[0]!)) ?? {}
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = document.paths[template]?.[verb]
    if (!operation) {
      if (status < 400) throw new Error(`${about}: a success outside of every operation`)
      assertValid(validator('openapi', 'components', 'schemas', 'ErrorBody'))
      return
    }

    const response = operation.responses?.[status]
    if (!response) throw new Error(`${about}: the document does not declare the status`)
    for (const name of headers.keys()) {
      if (ourHeaders.test(name) && !(name in (response.headers ?? {}))) {
        throw new Error(`${about}: the document does not declare the header ${name}`)
      }
    }
    if (!headers.has('x-request-id')) throw new Error(`${about}: no x-request-id`)
    if (method === 'HEAD' || !response.content) {
      if (body !== undefined) throw new Error(`${about}: a body`)
      return
    }
    // A read mask makes every member optional.
    const schemas = status === 200 && /[?&]readMask=/.test(path) ? 'openapi-masked' : 'openapi'
    assertValid(
      validator(
        schemas,
        'paths',
        template,
        verb,
        'responses',
        `${status}`,
        'content',
        'application/json',
        'schema',
      ),
    )
    const reason = body?.error?.details[0].reason
    if (reason && !(reason in (response.content['application/json']?.examples ?? {}))) {
      throw new Error(`${about}: the document does not declare the reason ${reason}`)
    }
  }
}

/** The schema with `additionalProperties: false` on every object: clients must accept unknown members, tests must not. */
const withoutUnknownMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnknownMembers)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutUnknownMembers(member)]),
  )
  const isObjectSchema = copy.type === 'object' && 'properties' in copy
  return isObjectSchema ? { additionalProperties: false, ...copy } : copy
}

/** The schema without `required`. */
const withoutRequired = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutRequired)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(
    ([name, member]) => name !== 'required' || !Array.isArray(member),
  )
  return Object.fromEntries(members.map(([name, member]) => [name, withoutRequired(member)]))
}

const escapePointer = (name: string) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
