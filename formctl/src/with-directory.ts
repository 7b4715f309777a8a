import { type DirectoryStore, openDirectoryStore } from '@fms/directory-store'
import type { Command } from 'commander'
import { type Outcome, printOutcome } from './outcome.ts'
import { storeUrls } from './store-urls.ts'

/** The directory that the environment names. */
export const openDirectory = async (): Promise<DirectoryStore> => {
  try {
    return await openDirectoryStore(storeUrls(process.env).directory)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `The directory cannot be opened. Check DIRECTORY_STORE_URL, or DATA_DIR without it. ${reason}`,
      { cause },
    )
  }
}

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
    // Without its indexes a store would let e-mail addresses and slugs be taken twice.
    await directory.ping()
    printOutcome(this, await work(directory, this.optsWithGlobals<Options & object>(), this.args, this))
  }
