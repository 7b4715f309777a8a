import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FormRecord, formPath } from '@fms/contracts'
import { type FormsStore, makePublicId } from '@fms/forms-store'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import type { Command } from '../cli/command.ts'
import { InvalidLineError, type Line, parseRecord, readLines } from './read-records.ts'

export interface ImportOptions {
  /** Target of all forms. Default: the organization of each record. */
  organizationId?: string
  /** Imports copies with fresh ids, times and counts. */
  asNew?: boolean
  /** Stores nothing. */
  dryRun?: boolean
  /** Skips the lines before. Counts from 1. */
  fromLine?: number
}

export interface ImportResult {
  imported: number
  existing: number
  /** Deleted forms whose `purgeTime` has passed. An import skips them, since they would be purged immediately. */
  expired: number
}

const memberOf = { imported: 'imported', exists: 'existing', expired: 'expired' } as const

/** Problems in the error message. Further problems are likely similar. */
const maxProblems = 20

/**
 * Imports forms from a file, after checking all of its lines. May be interrupted and repeated: existing forms are skipped.
 *
 * @throws {Error} with the number of each line that is not a valid record. Then nothing is imported.
 */
export const importForms = async (
  command: Command,
  store: FormsStore,
  path: string,
  options: ImportOptions,
): Promise<ImportResult> => {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${path}.`)
  const total = await countValidForms(path, options)
  const tally: ImportResult = { imported: 0, existing: 0, expired: 0 }
  using interruption = new Interruption()
  using progress = await startProgress(command, 'Importing forms', total)
  let lastLine = (options.fromLine ?? 1) - 1
  const importLine = async (line: Line) => {
    const record = recordFor(parseRecord(line), options)
    const importOne = () => store.importForm(record, { validateOnly: options.dryRun })
    const outcome = isExpired(record) ? 'expired' : await atLine(line, options, importOne)
    tally[memberOf[outcome]]++
    lastLine = line.number
    progress.step()
  }
  // New forms are imported one at a time, so that an interruption leaves one line to resume from.
  await forEachConcurrently(options.asNew ? 1 : 8, interruption.until(linesFrom(path, options)), importLine)
  interruption.check(resumeHint(options, lastLine + 1) ?? 'Repeat the command to resume.')
  return tally
}

async function* linesFrom(path: string, { fromLine = 1 }: ImportOptions): AsyncGenerator<Line> {
  for await (const line of readLines(path)) if (line.number >= fromLine) yield line
}

/** The number of forms in the file. @throws {Error} if a line is invalid. */
const countValidForms = async (path: string, options: ImportOptions): Promise<number> => {
  let valid = 0
  const problems: string[] = []
  for await (const line of linesFrom(path, options)) {
    try {
      parseRecord(line)
      valid++
    } catch (error) {
      if (!(error instanceof InvalidLineError)) throw error
      problems.push(...error.message.split('\n'))
    }
  }
  if (problems.length === 0) return valid
  const listed = problems.slice(0, maxProblems)
  if (problems.length > maxProblems) listed.push(`and ${problems.length - maxProblems} more`)
  throw new Error(`Nothing was imported from ${path}:\n${listed.join('\n')}`)
}

const recordFor = (record: FormRecord, { organizationId, asNew }: ImportOptions): FormRecord => {
  const moved = organizationId ? withIds(record, { ...record, organizationId }) : record
  return asNew ? toNewForm(moved, new Date()) : moved
}

const isExpired = ({ deletion }: FormRecord) => deletion && Date.parse(deletion.purgeTime) <= Date.now()

/** How to resume where a repeat would import new forms once more; it skips forms that exist. */
const resumeHint = ({ asNew, dryRun }: ImportOptions, line: number): string | undefined =>
  asNew && !dryRun ? `The lines before are imported. Resume with --from-line ${line}.` : undefined

const atLine = async <T>({ number }: Line, options: ImportOptions, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const hint = resumeHint(options, number)
    throw new Error(`line ${number}: ${message}${hint ? `\n${hint}` : ''}`, { cause: error })
  }
}

interface Ids {
  organizationId: string
  formId: string
  publicId: string
}

/** The form with other ids, also in the snapshots of its revisions. */
const withIds = (record: FormRecord, ids: Ids): FormRecord => ({
  ...record,
  ...ids,
  revisions: record.revisions.map((revision) => ({
    ...revision,
    form: {
      ...revision.form,
      path: formPath(ids),
      publicId: ids.publicId,
      publicUrl: withPublicId(revision.form.publicUrl, record.publicId, ids.publicId),
    },
  })),
})

const withPublicId = (url: string, old: string, publicId: string) =>
  url.endsWith(`/${old}`) ? url.slice(0, -old.length) + publicId : url

type Deletion = NonNullable<FormRecord['deletion']>

/** A delete by an operator that can be undone for as long as the given one. */
const deletedAt = ({ deleteTime, purgeTime }: Deletion, now: Date): Deletion => {
  const ms = Date.parse(purgeTime) - Date.parse(deleteTime)
  return { deleteTime: now.toISOString(), purgeTime: new Date(now.getTime() + ms).toISOString(), deleter: '' }
}

/**
 * A new form with the same draft and revisions: fresh ids, all times `now`, no replies, and neither publishers nor a
 * deleter, because an operator makes these changes. A deleted form keeps the time for which it can be restored.
 */
const toNewForm = (record: FormRecord, now: Date): FormRecord => {
  const time = now.toISOString()
  const ids = { organizationId: record.organizationId, formId: randomUUID(), publicId: makePublicId() }
  const revisions = record.revisions.map(({ publisher: _, ...revision }) => ({
    ...revision,
    revisionId: randomUUID(),
    commandId: randomUUID(),
    createTime: time,
    form: { ...revision.form, createTime: time, updateTime: time, replyCount: 0 },
  }))
  const live = revisions.find(({ number }) => number === record.live?.number)
  return withIds(
    {
      ...record,
      createTime: time,
      updateTime: time,
      version: 1,
      revisions,
      live: live ? { revisionId: live.revisionId, number: live.number } : null,
      replyCount: 0,
      replyIds: [],
      ...(record.deletion && { deletion: deletedAt(record.deletion, now) }),
    },
    ids,
  )
}
