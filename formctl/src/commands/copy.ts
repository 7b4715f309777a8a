import { Option } from 'commander'
import type { Command } from '../cli/command.ts'
import { printOutcome } from '../cli/outcome.ts'
import { type CopyResult, copyStore } from '../copy/copy-store.ts'
import { eventsKind } from '../copy/events-kind.ts'
import { directoryKind, formsKind, type StoreKind } from '../copy/store-kinds.ts'
import { withoutPassword, withStoreName } from '../stores/open-stores.ts'
import { fileOf } from '../stores/require-store.ts'

interface CopyOptions {
  from: string
  to: string
  store?: 'directory' | 'forms'
}

const explanation = `
First stop all processes that write to the source or use the target: publishers on the target would stream its events
again until its log is copied. The command migrates and fills the target, and compares both stores by count
and content. It only reads the source, except that it moves pending events to their log on MongoDB. You can interrupt
it: the same command resumes the copy.

URLs are sqlite:PATH or mongodb://HOST:PORT/DATABASE. npm start stores data in .data/directory.db and .data/forms.db.
One MongoDB database can hold both stores:
  $ formctl copy --from sqlite:.data/directory.db --to mongodb://HOST:PORT/DATABASE
  $ formctl copy --from sqlite:.data/forms.db --to mongodb://HOST:PORT/DATABASE`

export const addCopyCommand = (formctl: Command): void => {
  formctl
    .command('copy')
    .description('copy the directory or the forms from one store to another, such as SQLite to MongoDB')
    .requiredOption('--from <url>', 'the store to read')
    .requiredOption('--to <url>', 'the store to fill; created if it is missing')
    .addOption(
      new Option('--store <store>', 'copy only this store (default: all stores of the source)').choices([
        'directory',
        'forms',
      ]),
    )
    .addHelpText('after', explanation)
    .action(async function (this: Command) {
      const { from, to, store } = this.opts<CopyOptions>()
      const copies: CopyResult[] = []
      for (const name of await storesToCopy(from, to, store)) {
        if (name === 'directory') copies.push(await copyStore(this, directoryKind, from, to))
        else {
          // Events first: form.imported of a later import has to follow them in the log.
          copies.push(await copyStore(this, eventsKind, from, to))
          copies.push(await copyStore(this, formsKind, from, to))
        }
      }
      printOutcome(this, { json: { copies }, text: copies.map(describe).join('\n') })
    })
    .examples('copy --from "sqlite:$DATA_DIR/directory.db" --to "sqlite:$DATA_DIR/copy.db"')
}

/** The stores to copy. @throws {Error} if a URL is unsuitable. */
const storesToCopy = async (
  from: string,
  to: string,
  wanted: CopyOptions['store'],
): Promise<('directory' | 'forms')[]> => {
  const [source, target] = [from, to].map((url) => fileOf({ url }) ?? url)
  if (source === target) throw new Error('--from and --to name the same store.')
  if (to === 'sqlite::memory:') throw new Error('--to must be a store that stays.')
  const found = await storesAt(from, '--from')
  const stores = found.filter((name) => !wanted || name === wanted)
  const what = wanted ?? 'directory or forms'
  if (stores.length === 0) throw new Error(`There is no ${what} store at ${withoutPassword(from)}.`)
  if (to.startsWith('sqlite:')) {
    if (stores.length > 1)
      throw new Error('A SQLite file holds one store. Choose it with --store directory or --store forms.')
    const other = (await storesAt(to, '--to')).find((name) => !stores.includes(name))
    if (other) throw new Error(`${to} holds a ${other} store. Choose another file.`)
  }
  return stores
}

const storesAt = async (url: string, setting: string) => {
  const kinds: Pick<StoreKind<never>, 'store' | 'exists'>[] = [directoryKind, formsKind]
  const names: ('directory' | 'forms')[] = []
  for (const { store: name, exists } of kinds) {
    if (await withStoreName({ name, url, setting }, () => exists(url))) names.push(name)
  }
  return names
}

/** `deletedForms` becomes `deleted forms`. */
const withSpaces = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const describe = ({ store, imported, existing, counts, sha256 }: CopyResult): string => {
  const content = Object.entries(counts).map(([name, count]) => `${count} ${withSpaces(name)}`)
  return [
    `Copied the ${store === 'events' ? 'events of the forms' : store} store: ${imported} records imported, ${existing} existed.`,
    `Source and target are equal: ${content.join(', ') || 'no records'}; SHA-256 ${sha256}`,
  ].join('\n')
}
