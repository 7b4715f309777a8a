import { type Client, createClient, FormsApiError, FormsConnectionError } from '@fms/client'
import { replayedHeader } from '@fms/contracts'
import type { Command } from '../cli/command.ts'
import { parseBaseUrl } from '../cli/option-values.ts'
import { printOutcome, type Work } from '../cli/outcome.ts'
import { readBaseUrl } from '../stores/running-system.ts'

/** The API that commands use in place of a store, with the key of one user. */
export interface Api extends Client {
  /** Whether the last request repeated one that was carried out, with the same `requestId`. */
  isReplayed(): boolean
}

/** How long a request may take, in milliseconds. */
const timeoutMs = 30_000

/** @returns undefined without `FORMS_API_URL`. @throws {Error} if a variable is not valid. */
const apiOf = (env: NodeJS.ProcessEnv): Api | undefined => {
  if (!env.FORMS_API_URL) return undefined
  let isReplayed = false
  const client = createClient({
    baseUrl: baseUrlOf(env.FORMS_API_URL),
    apiKey: apiKeyOf(env),
    // The message of a failure says how to repeat the command.
    maxRetries: 0,
    fetch: async (url, init) => {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
      isReplayed = response.headers.get(replayedHeader) === 'true'
      return response
    },
  })
  return { ...client, isReplayed: () => isReplayed }
}

/** The base URL of the API in `FORMS_API_URL`. @throws {Error} if it is not one. */
export const baseUrlOf = (variable: string): string => {
  try {
    return parseBaseUrl(variable)
  } catch (cause) {
    throw new Error(`FORMS_API_URL is not valid. ${(cause as Error).message}`, { cause })
  }
}

const apiKeyOf = ({ FORMS_API_KEY }: NodeJS.ProcessEnv): string => {
  if (!FORMS_API_KEY) {
    throw new Error('FORMS_API_URL is set, but FORMS_API_KEY is not. Set it to an API key, or unset both.')
  }
  // Other characters, such as the end of a line, are not valid in a header.
  if (/^fms_[\w-]+$/.test(FORMS_API_KEY)) return FORMS_API_KEY
  throw new Error(
    'FORMS_API_KEY is not valid. It must be an API key, which begins with fms_, without white space.',
  )
}

/** The message of an error of the client. Below it all violations if there are several: the message has only the first. */
export const apiMessageOf = (error: unknown): string => {
  if (error instanceof FormsConnectionError) {
    return `${error.message}. Check FORMS_API_URL, and that the service runs.`
  }
  if (!(error instanceof FormsApiError)) {
    return (error as Error).message.replace(
      /names no resource$/,
      'names nothing. Give an id, as the lists show it.',
    )
  }
  if (error.status === 'UNKNOWN') {
    return `The server responds ${error.code}, and not as the API does. Check FORMS_API_URL.`
  }
  const lines = [
    ...error.fieldViolations.map(({ field, description }) => `  ${field} ${description}`),
    ...error.preconditionViolations.map(({ subject, description }) => `  ${subject} ${description}`),
  ]
  return lines.length > 1 ? [error.message, ...lines].join('\n') : error.message
}

/**
 * The action of a command that uses the API where `FORMS_API_URL` is set, and otherwise a store.
 *
 * @param unavailable options that only the store supports.
 */
export const withApiOr = <Options extends object>(
  onStore: (this: Command) => Promise<void>,
  work: Work<Api, Options>,
  unavailable: readonly (keyof Options & string)[] = [],
) =>
  async function (this: Command): Promise<void> {
    const api = apiOf(process.env)
    if (!api) return onStore.call(this)
    rejectOptions(this, unavailable, 'does not work with FORMS_API_URL; leave it out, or unset FORMS_API_URL')
    const outcome = await work(api, this.optsWithGlobals<Options>(), this.args, this).catch((cause) => {
      throw new Error(apiMessageOf(cause), { cause })
    })
    printOutcome(this, outcome)
  }

/** Makes the action of a command that works only by the API. */
export const withApi = <Options extends object>(work: Work<Api, Options>) =>
  withApiOr<Options>(async () => {
    const baseUrl = readBaseUrl(process.env) ?? 'https://forms.example.com/v2'
    throw new Error(
      `This command works by the API. Set FORMS_API_URL to its base URL, such as ${baseUrl}, and FORMS_API_KEY to an API key.`,
    )
  }, work)

/** Fails if one of these options is given. @param why follows the name of the option. */
export const rejectOptions = (command: Command, names: readonly string[], why: string): void => {
  const given = command.options.find(
    (option) =>
      names.includes(option.attributeName()) && command.getOptionValue(option.attributeName()) !== undefined,
  )
  if (given) command.error(`error: ${given.long} ${why}`)
}
