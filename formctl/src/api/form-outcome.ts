import type { Form } from '@fms/contracts'
import type { Outcome } from '../cli/outcome.ts'
import type { SentChange } from './send-change.ts'

/** What a command has done to a form, or would do: `Published`, `publish`. */
export interface Verb {
  past: string
  infinitive: string
}

/**
 * The outcome of a command that changes a form by the API.
 *
 * @param validateOnly whether nothing was changed.
 */
export const formOutcome = (
  { past, infinitive }: Verb,
  { body: form, etag, requestId, isReplayed }: SentChange<Form>,
  validateOnly = false,
): Outcome => {
  const { path, publicId, name, live } = form
  const title = `the form ${publicId} ${JSON.stringify(name)}`
  const done = isReplayed
    ? `The request was carried out before: ${past.toLowerCase()} ${title}.`
    : `${past} ${title}.`
  return {
    json: { id: path.split('/').at(-1), publicId, live, etag, requestId, replayed: isReplayed, validateOnly },
    text: validateOnly ? `Nothing was changed. The service would ${infinitive} ${title}.` : done,
  }
}
