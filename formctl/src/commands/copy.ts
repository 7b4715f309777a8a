import { type Command, Option } from 'commander'
import { type Copied, copyStore } from '../copy/copy-store.ts'
import { directoryKind } from '../copy/directory-kind.ts'
import { formsKind } from '../copy/forms-kind.ts'
import type { StoreKind } from '../copy/store-kind.ts'
import { withExamples } from '../examples.ts'
import { namingStore } from '../naming-store.ts'
import { printOutcome } from '../outcome.ts'
import { withoutPassword } from '../store-urls.ts'

interface CopyOptions {
  from: string
  to: string
  store?: 'directory' | 'forms'
}

const explanation = `
Stop what writes to the source first. The source is only read; the target is prepared, filled, and compared with the
source at the end, by count and by content. Interrupt it whenever you like: the same command goes on from there.

URLs are sqlite:PATH or mongodb://HOST:PORT/DATABASE. npm start keeps the stores in .data/directory.db and
.data/forms.db; both of them may go into one database of MongoDB:
  $ formctl copy --from sqlite:.data/directory.db --to mongodb://HOST:PORT/DATABASE
  $ formctl copy --from sqlite:.data/forms.db --to mongodb://HOST:PORT/DATABASE`

export const addCopyCommand = (formctl: Command): void => {
  const copy = formctl
    .command('copy')
    .description('copy the directory or the forms from one store to another, such as SQLite to MongoDB')
    .requiredOption('--from <url>', 'the store to read')
    .requiredOption('--to <url>', 'the store to fill; made when it is missing')
    .addOption(
      new Option('--store <store>', 'copy this one alone; by default, what the source has').choices([
        'directory',
        'forms',
      ]),
    )
    .addHelpText('after', explanation)
    .action(async function (this: Command) {
      const { from, to, store } = this.opts<CopyOptions>()
      const copies: Copied[] = []
      for (const name of await storesToCopy(from, to, store)) {
        copies.push(
          name === 'forms'
            ? await copyStore(this, formsKind, from, to)
            : await copyStore(this, directoryKind, from, to),
        )
      }
      printOutcome(this, { json: { copies }, text: copies.map(describe).join('\n') })
    })
  withExamples(copy, 'copy --from "sqlite:$DATA_DIR/directory.db" --to "sqlite:$DATA_DIR/copy.db"')
}

/** Which stores there are to copy. @throws {Error} that says what is wrong with the URLs. */
const storesToCopy = async (
  from: string,
  to: string,
  wanted: CopyOptions['store'],
): Promise<('directory' | 'forms')[]> => {
  if (from === to) throw new Error('--from and --to name the same store.')
  const held = await storesAt(from, '--from')
  const stores = held.filter((name) => !wanted || name === wanted)
  const what = wanted ?? 'directory or forms'
  if (stores.length === 0) throw new Error(`There is no ${what} store at ${withoutPassword(from)}.`)
  if (to.startsWith('sqlite:')) {
    // A SQLite file is one store.
    if (stores.length > 1)
      throw new Error('A SQLite file holds one store. Say which: --store directory or forms.')
    const other = (await storesAt(to, '--to')).find((name) => !stores.includes(name))
    if (other) throw new Error(`${to} holds a ${other} store. Give another file.`)
  }
  return stores
}

const storesAt = async (url: string, setting: string) => {
  const kinds: Pick<StoreKind<never>, 'name' | 'holds'>[] = [directoryKind, formsKind]
  const names: ('directory' | 'forms')[] = []
  for (const { name, holds } of kinds) {
    if (await namingStore({ name, url, setting }, () => holds(url))) names.push(name)
  }
  return names
}

const describe = ({ store, imported, existing, counts, sha256 }: Copied): string => {
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return [
    `Copied the ${store} store: ${imported} records now, ${existing} were there.`,
    `Source and target are equal: ${told.join(', ') || 'nothing'}; SHA-256 ${sha256}`,
  ].join('\n')
}
