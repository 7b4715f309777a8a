import { join } from 'node:path'
import { type DirectoryStore, openDirectoryStore } from '@fms/directory-store'
import type { Command } from 'commander'

/** What a command has to say, to programs and to people. */
export interface Outcome {
  json: object
  text: string
}

const directoryStoreUrl = ({ DIRECTORY_STORE_URL, DATA_DIR }: NodeJS.ProcessEnv): string =>
  DIRECTORY_STORE_URL || `sqlite:${join(DATA_DIR || '.data', 'directory.db')}`

const openDirectory = async (): Promise<DirectoryStore> => {
  try {
    return await openDirectoryStore(directoryStoreUrl(process.env))
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
  work: (directory: DirectoryStore, options: Options, operands: string[]) => Promise<Outcome>,
) =>
  async function (this: Command): Promise<void> {
    const options = this.optsWithGlobals<Options & { json?: boolean }>()
    await using directory = await openDirectory()
    const { json, text } = await work(directory, options, this.args)
    process.stdout.write(`${options.json ? JSON.stringify(json) : text}\n`)
  }
