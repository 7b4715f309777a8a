import type { DirectoryStore } from '@fms/directory-store'
import type { Command } from 'commander'
import { namingStore } from './naming-store.ts'
import { openDirectory } from './open-stores.ts'
import { type Outcome, printOutcome } from './outcome.ts'
import { namedStores } from './store-urls.ts'

/** A command's action: opens the directory, does the work, prints the outcome. */
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
    const outcome = await namingStore(namedStores(process.env).directory, () =>
      work(directory, options, this.args, this),
    )
    printOutcome(this, outcome)
  }
