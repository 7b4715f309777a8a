import { ErrorBody, replayedHeader } from '@fms/contracts'
import type { z } from 'zod'
import { ApiFailure } from './api-failure.ts'
import { baseUrlOf } from './base-url.ts'

/** A request to the API. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path below the base URL, with the query. */
  path: string
  body?: object | undefined
  /** Header `If-Match`. */
  ifMatch?: string | undefined
}

/** A response of the API. */
export interface ApiResponse<Body> {
  body: Body
  etag: string | undefined
  /** Whether an earlier request with the same `requestId` was carried out. */
  isReplayed: boolean
}

/** The API that commands use in place of a store, with the key of one user. */
export interface Api {
  /** Sends a request. @throws {ApiFailure} with the message of the response, or with what to check if there is none. */
  send<Schema extends z.ZodType>(
    schema: Schema,
    method: ApiRequest['method'],
    path: string,
    body?: object,
  ): Promise<z.output<Schema>>

  /** Sends a request, and also returns the headers of the response. @throws {ApiFailure} as `send`. */
  exchange<Schema extends z.ZodType>(
    schema: Schema,
    request: ApiRequest,
  ): Promise<ApiResponse<z.output<Schema>>>
}

/** How long a request may take, in milliseconds. */
const timeoutMs = 30_000

/**
 * The API of the environment.
 *
 * @returns undefined without `FORMS_API_URL`: commands then open the stores.
 * @throws {Error} if `FORMS_API_URL` or `FORMS_API_KEY` is not valid.
 */
export const apiOf = (env: NodeJS.ProcessEnv): Api | undefined => {
  if (!env.FORMS_API_URL) return undefined
  const baseUrl = baseUrlOf(env.FORMS_API_URL)
  const apiKey = apiKeyOf(env)
  const exchange: Api['exchange'] = async (schema, { method, path, body, ifMatch }) => {
    assertReferences(path)
    const { json, headers } = await fetchJson(`${baseUrl}${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return {
      body: schema.parse(json),
      etag: headers.get('etag') ?? undefined,
      isReplayed: headers.get(replayedHeader) === 'true',
    }
  }
  return {
    exchange,
    send: async (schema, method, path, body) => (await exchange(schema, { method, path, body })).body,
  }
}

const apiKeyOf = ({ FORMS_API_KEY }: NodeJS.ProcessEnv): string => {
  if (!FORMS_API_KEY) {
    throw new Error('FORMS_API_URL is set, but FORMS_API_KEY is not. Set it to an API key, or unset both.')
  }
  // Other characters, such as the end of a line, are not valid in a header.
  if (!/^[\x21-\x7e]+$/.test(FORMS_API_KEY)) {
    throw new Error('FORMS_API_KEY is not valid. It must be an API key, without white space.')
  }
  return FORMS_API_KEY
}

/** @throws {Error} for a reference that would change the path of the URL: `""`, `.` or `..`. */
const assertReferences = (path: string): void => {
  const [segments = ''] = path.split('?', 1)
  const wrong = segments
    .slice(1)
    .split('/')
    .find((segment) => /^\.{0,2}$/.test(segment))
  if (wrong !== undefined)
    throw new Error(`${JSON.stringify(wrong)} names nothing. Give an id, as the lists show it.`)
}

const fetchJson = async (url: string, init: RequestInit): Promise<{ json: unknown; headers: Headers }> => {
  const response = await fetch(url, {
    ...init,
    // A redirect would send the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    const message = `There is no response from ${url}. Check FORMS_API_URL, and that the service runs.`
    throw new ApiFailure(message, undefined, { cause })
  })
  const json: unknown = await response.json().catch(() => undefined)
  if (response.ok && json !== undefined) return { json, headers: response.headers }
  const { data } = ErrorBody.safeParse(json)
  const unknown = `${url} responds ${response.status}, and not as the API does. Check FORMS_API_URL.`
  throw new ApiFailure(data ? messageOf(data) : unknown, response.status)
}

/** The message of an error, and below it all violations if there are several: the message has only the first one. */
const messageOf = ({ error: { message, details } }: ErrorBody): string => {
  const lines = details.flatMap((detail) => {
    if ('fieldViolations' in detail) {
      return detail.fieldViolations.map(({ field, description }) => `${field} ${description}`)
    }
    if ('violations' in detail) {
      return detail.violations.map(({ subject, description }) => `${subject} ${description}`)
    }
    return []
  })
  return lines.length > 1 ? [message, ...lines.map((line) => `  ${line}`)].join('\n') : message
}
