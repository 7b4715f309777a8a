import type { DirectoryStore } from '@fms/directory-store'
import type { Command } from 'commander'
import { type Outcome, printOutcome } from '../cli/outcome.ts'
import { withStoreName } from './named-store.ts'
import { openDirectory } from './open-stores.ts'
import { namedStores } from './store-urls.ts'

/** Makes the action of a command: opens the directory, runs `work`, and prints its outcome. */
export const withDirectory = <Options>(
  work: (
    directory: DirectoryStore,
    options: Options,
    operands: string[],
    command: Command,
  ) => Promise<Outcome>,
) =>
  async function (this: Command): Promise<void> {
    await using directory = await openDirectory()
    const options = this.optsWithGlobals<Options & object>()
    const outcome = await withStoreName(namedStores(process.env).directory, () =>
      work(directory, options, this.args, this),
    )
    printOutcome(this, outcome)
  }
