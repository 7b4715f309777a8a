import { statSync } from 'node:fs'
import type { FormRecord } from '@fms/contracts'
import {
  type FormsStore,
  formConflict,
  fromFormRecord,
  type Imported,
  parseDraft,
  type StoredForm,
} from '@fms/forms-store'
import { recordDigest } from '@fms/store-kit'
import type { Command } from 'commander'
import { eachAtOnce } from '../copy/each-at-once.ts'
import { Interruption } from '../copy/interruption.ts'
import { startProgress } from '../copy/progress.ts'
import { asNew, inOrganization } from './as-new.ts'
import { BadLine, type Line, parseRecord, readLines } from './read-records.ts'

export interface ImportOptions {
  /** Where the forms go; without it, where they came from. */
  organizationId?: string
  /** Gives fresh ids, times and counts. */
  asNew?: boolean
  /** Stores nothing. */
  dryRun?: boolean
  /** Leaves out the lines before. */
  fromLine?: number
}

/** What an import did, or would do. */
export interface FormsImported {
  imported: number
  existing: number
}

/** So many problems are told; the next ones are likely of their kind. */
const maxProblems = 20

/**
 * Imports forms from a file, after all of it was read and found sound. May be interrupted and repeated: what is there
 * is skipped.
 *
 * @throws {Error} with the number of each line that is no whole and sound record, and nothing is imported.
 */
export const importForms = async (
  command: Command,
  store: FormsStore,
  path: string,
  options: ImportOptions,
): Promise<FormsImported> => {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${path}.`)
  const total = await countSound(path, options)
  const tally: FormsImported = { imported: 0, existing: 0 }
  using interruption = new Interruption()
  using progress = await startProgress(command, 'Importing forms', total)
  let lastLine = 0
  const importLine = async (line: Line) => {
    const record = recordFor(parseRecord(line), options)
    const outcome = await atLine(line, () =>
      options.dryRun ? look(store, record) : store.importForm(record),
    )
    tally[outcome === 'imported' ? 'imported' : 'existing']++
    lastLine = line.number
    progress.step()
  }
  // New forms come one after the other, so that there is one line to go on from.
  await eachAtOnce(options.asNew ? 1 : 8, interruption.until(linesFrom(path, options)), importLine)
  interruption.check(
    options.asNew
      ? `Lines up to ${lastLine} are imported. Go on with --from-line ${lastLine + 1}.`
      : 'The same command again goes on from there.',
  )
  return tally
}

async function* linesFrom(path: string, { fromLine = 1 }: ImportOptions): AsyncGenerator<Line> {
  for await (const line of readLines(path)) if (line.number >= fromLine) yield line
}

/** How many forms the file holds. @throws {Error} unless all of its lines are sound. */
const countSound = async (path: string, options: ImportOptions): Promise<number> => {
  let sound = 0
  const problems: string[] = []
  for await (const line of linesFrom(path, options)) {
    try {
      parseRecord(line)
      sound++
    } catch (error) {
      if (!(error instanceof BadLine)) throw error
      problems.push(...error.message.split('\n'))
    }
  }
  if (problems.length === 0) return sound
  const told = problems.slice(0, maxProblems)
  if (problems.length > maxProblems) told.push(`and ${problems.length - maxProblems} more`)
  throw new Error(`Nothing was imported from ${path}:\n${told.join('\n')}`)
}

const recordFor = (record: FormRecord, options: ImportOptions): FormRecord => {
  const moved = options.organizationId ? inOrganization(record, options.organizationId) : record
  return options.asNew ? asNew(moved, new Date()) : moved
}

/** What an import would do, as far as the form itself tells. */
const look = async (store: FormsStore, record: FormRecord): Promise<Imported> => {
  const { organizationId, formId } = record
  const stored = await store.get({ organizationId, formRef: formId })
  if (!stored) return 'imported'
  if (digestOf(stored) !== digestOf(fromFormRecord(record))) throw formConflict(record, 'formId', formId)
  return 'exists'
}

/** Equal for forms whose drafts are equal as JSON, whatever the order of their members. */
const digestOf = ({ draftJson, ...form }: StoredForm) =>
  recordDigest({ ...form, draft: parseDraft({ draftJson }) })

const atLine = async <T>({ number }: Line, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(`line ${number}: ${message}`, { cause: error })
  }
}
