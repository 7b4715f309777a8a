import type { Command } from 'commander'
import { type Outcome, printOutcome } from '../cli/outcome.ts'
import { type Api, apiOf } from './api.ts'

type Work<Options> = (api: Api, options: Options, operands: string[], command: Command) => Promise<Outcome>

/**
 * Makes the action of a command that uses the API where `FORMS_API_URL` is set, and otherwise a store.
 *
 * @param onStore the action without an API, such as one from `withDirectory`.
 * @param unavailable options that only the store supports.
 */
export const withApiOr = <Options extends object>(
  onStore: (this: Command) => Promise<void>,
  unavailable: readonly (keyof Options & string)[],
  work: Work<Options>,
) =>
  async function (this: Command): Promise<void> {
    const api = apiOf(process.env)
    if (!api) return onStore.call(this)
    rejectOptions(this, unavailable, 'does not work with FORMS_API_URL; leave it out, or unset FORMS_API_URL')
    printOutcome(this, await work(api, this.optsWithGlobals<Options>(), this.args, this))
  }

/** Makes the action of a command that works only by the API. */
export const withApi = <Options extends object>(work: Work<Options>) =>
  withApiOr<Options>(
    async () => {
      throw new Error(
        'This command works by the API. Set FORMS_API_URL to its base URL, such as https://forms.example.com/v2, and FORMS_API_KEY to an API key.',
      )
    },
    [],
    work,
  )

/** Makes the action of a command for a store, where some options work only by the API. */
export const withoutApiOptions = (names: readonly string[], action: (this: Command) => Promise<void>) =>
  async function (this: Command): Promise<void> {
    rejectOptions(this, names, 'works only by the API; leave it out, or set FORMS_API_URL')
    await action.call(this)
  }

const rejectOptions = (command: Command, names: readonly string[], why: string): void => {
  const given = command.options.find(
    (option) =>
      names.includes(option.attributeName()) && command.getOptionValue(option.attributeName()) !== undefined,
  )
  if (given) command.error(`error: ${given.long} ${why}`)
}
