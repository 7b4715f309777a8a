import { randomUUID } from 'node:crypto'
import {
  type ChangeOptions as ClientOptions,
  FormsApiError,
  FormsConnectionError,
  type TaggedForm,
} from '@fms/client'
import type { Command } from '../cli/command.ts'
import { parseEtag, parseUuid } from '../cli/option-values.ts'
import type { Outcome } from '../cli/outcome.ts'
import { type Api, apiMessageOf } from './api.ts'

/** Options of each command that changes a form by the API. */
export type ChangeOptions = Pick<ClientOptions, 'validateOnly' | 'ifMatch' | 'requestId'>

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

/** Changes a form with a `requestId`. @throws {Error} with its `--request-id` if the change may have been made. */
export const sendChange = async <T>(
  { isReplayed }: Api,
  { validateOnly = false, ifMatch, requestId = randomUUID() }: ChangeOptions,
  send: (options: ClientOptions) => Promise<T>,
) => {
  try {
    const result = await send({ validateOnly, requestId, ...(ifMatch !== undefined && { ifMatch }) })
    return { result, outcome: { requestId, replayed: isReplayed(), validateOnly } }
  } catch (cause) {
    const isUncertain =
      cause instanceof FormsConnectionError || (cause instanceof FormsApiError && cause.code >= 500)
    if (!isUncertain) throw cause
    const advice = `Repeat the command with --request-id ${requestId}: it is carried out only once.`
    throw new Error(`${apiMessageOf(cause)}\n${advice}`, { cause })
  }
}

/** Changes a form as {@link sendChange}. @param verb what the command does to the form: `Published`, `publish`. */
export const changeForm = async (
  api: Api,
  [past, infinitive]: readonly [past: string, infinitive: string],
  options: ChangeOptions,
  send: (options: ClientOptions) => Promise<TaggedForm>,
): Promise<Outcome> => {
  const { result, outcome } = await sendChange(api, options, send)
  const { path, publicId, name, live } = result.form
  const title = `the form ${publicId} ${JSON.stringify(name)}`
  const done = outcome.replayed
    ? `The request was carried out before: ${past.toLowerCase()} ${title}.`
    : `${past} ${title}.`
  return {
    json: { id: path.split('/').at(-1), publicId, live, etag: result.etag || undefined, ...outcome },
    text: outcome.validateOnly ? `Nothing was changed. The service would ${infinitive} ${title}.` : done,
  }
}
