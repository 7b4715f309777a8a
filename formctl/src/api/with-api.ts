import type { Command } from 'commander'
import { type Outcome, printOutcome } from '../cli/outcome.ts'
import { type Api, apiOf } from './api.ts'

/**
 * Makes the action of a command that uses the API where `FORMS_API_URL` is set, and otherwise the directory.
 *
 * @param onDirectory the action without an API, from `withDirectory`.
 * @param unavailable options that only the directory supports.
 */
export const withApiOr = <Options extends object>(
  onDirectory: (this: Command) => Promise<void>,
  unavailable: readonly (keyof Options & string)[],
  work: (api: Api, options: Options, operands: string[], command: Command) => Promise<Outcome>,
) =>
  async function (this: Command): Promise<void> {
    const api = apiOf(process.env)
    if (!api) return onDirectory.call(this)
    const options = this.optsWithGlobals<Options>()
    for (const name of unavailable.filter((each) => options[each] !== undefined)) {
      this.error(`error: --${name} does not work with FORMS_API_URL; leave it out, or unset FORMS_API_URL`)
    }
    printOutcome(this, await work(api, options, this.args, this))
  }
