import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { z } from 'zod'
import { parseEtag, parseUuid } from '../cli/option-values.ts'
import type { Api, ApiResponse } from './api.ts'
import { ApiFailure } from './api-failure.ts'

/** Options of each command that changes a form by the API. */
export interface ChangeOptions {
  validateOnly?: boolean
  ifMatch?: string
  requestId?: string
}

/** Adds the options of {@link ChangeOptions}. @param note for their help, such as where they work. */
export const addChangeOptions = (command: Command, note = ''): Command =>
  command
    .option('--validate-only', `run every check, and change nothing${note}`)
    .option('--if-match <etag>', `change nothing unless the draft still has this ETag${note}`, parseEtag)
    .option(
      '--request-id <uuid>',
      `the id of an earlier attempt, to repeat it safely; default: a new id${note}`,
      parseUuid,
    )

/** A change and its response. */
export interface SentChange<Body> extends ApiResponse<Body> {
  requestId: string
}

interface Change {
  method: 'POST' | 'DELETE'
  path: string
  /** Members of the body of a POST, besides those of {@link ChangeOptions}. */
  body?: object
}

/**
 * Sends a change of a form with a `requestId`.
 *
 * @throws {ApiFailure} as `Api.exchange`. If the change may have been made, the message has the command's `--request-id`.
 */
export const sendChange = async <Schema extends z.ZodType>(
  api: Api,
  schema: Schema,
  { method, path, body }: Change,
  { validateOnly = false, ifMatch, requestId = randomUUID() }: ChangeOptions,
): Promise<SentChange<z.output<Schema>>> => {
  // Proxies may drop the body of a DELETE.
  const query = new URLSearchParams({ requestId, validateOnly: String(validateOnly) })
  const request =
    method === 'DELETE'
      ? { method, path: `${path}?${query}`, ifMatch }
      : { method, path, ifMatch, body: { ...body, requestId, validateOnly } }
  try {
    return { ...(await api.exchange(schema, request)), requestId }
  } catch (error) {
    if (!(error instanceof ApiFailure && error.isUncertain)) throw error
    const advice = `Repeat the command with --request-id ${requestId}: it is carried out only once.`
    throw new ApiFailure(`${error.message}\n${advice}`, error.status, { cause: error })
  }
}
