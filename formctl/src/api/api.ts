import { ErrorBody } from '@fms/contracts'
import type { z } from 'zod'

/** The API that commands use in place of a store, with the key of one user. */
export interface Api {
  /** Sends a request. @throws {Error} with the message of the response, or with what to check if there is none. */
  send<Schema extends z.ZodType>(
    schema: Schema,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<z.output<Schema>>
}

/** How long a request may take, in milliseconds. */
const timeoutMs = 30_000

/**
 * The API of the environment.
 *
 * @returns undefined without `FORMS_API_URL`: commands then open the stores.
 * @throws {Error} without `FORMS_API_KEY`.
 */
export const apiOf = ({ FORMS_API_URL, FORMS_API_KEY }: NodeJS.ProcessEnv): Api | undefined => {
  if (!FORMS_API_URL) return undefined
  if (!FORMS_API_KEY) {
    throw new Error('FORMS_API_URL is set, but FORMS_API_KEY is not. Set it to an API key, or unset both.')
  }
  const baseUrl = FORMS_API_URL.replace(/\/+$/, '')
  return {
    async send(schema, method, path, body) {
      const response = await exchange(`${baseUrl}${path}`, {
        method,
        headers: {
          'x-api-key': FORMS_API_KEY,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return schema.parse(response)
    },
  }
}

const exchange = async (url: string, init: RequestInit): Promise<unknown> => {
  const response = await fetch(url, {
    ...init,
    // A redirect would send the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new Error(`There is no response from ${url}. Check FORMS_API_URL, and that the service runs.`, {
      cause,
    })
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok && body !== undefined) return body
  const { data } = ErrorBody.safeParse(body)
  throw new Error(
    data?.error.message ??
      `${url} responds ${response.status}, and not as the API does. Check FORMS_API_URL.`,
  )
}
