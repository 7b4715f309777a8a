import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { FormRecord } from '@fms/contracts'
import type { FormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { formsKind } from '../copy/forms-kind.ts'
import { Interruption } from '../copy/interruption.ts'
import { startProgress } from '../copy/progress.ts'

export interface Export {
  store: FormsStore
  /** Of all organizations when absent. */
  organizationId?: string
}

/**
 * Writes forms as NDJSON: one record a line, in order of organization and public id.
 *
 * @param write takes a line with its end.
 * @returns how many forms that were.
 */
export const exportForms = async (
  command: Command,
  { store, organizationId }: Export,
  write: (line: string) => Promise<void> | void,
): Promise<number> => {
  using interruption = new Interruption()
  const organizations = (await Array.fromAsync(store.organizations())).filter(
    (each) => !organizationId || each.organizationId === organizationId,
  )
  const total = organizations.reduce((sum, { forms }) => sum + forms, 0)
  using progress = await startProgress(command, 'Exporting forms', total)
  let written = 0
  for (const organization of organizations) {
    for await (const record of interruption.until(store.exportForms(organization.organizationId))) {
      await write(`${lineOf(record)}\n`)
      written++
      progress.step()
    }
  }
  interruption.check('Not all of the forms are exported. Repeat the command.')
  return written
}

const lineOf = (record: FormRecord): string => {
  try {
    return JSON.stringify(record)
  } catch (cause) {
    // V8 has no text of more than 512 MiB.
    throw new Error(`${formsKind.nameOf(record)} is too large for a line. Move it with formctl copy.`, {
      cause,
    })
  }
}

/**
 * Lets `work` write a new file, which appears once it is whole, and for its owner's eyes alone.
 *
 * @throws {Error} when there is such a file.
 */
export const writingFile = async <T>(
  path: string,
  work: (write: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> => {
  if (existsSync(path)) throw new Error(`${path} exists. Give another name, or remove it first.`)
  const unfinished = `${path}.${process.pid}.unfinished`
  try {
    const file = await open(unfinished, 'wx', 0o600)
    try {
      const result = await work((text) => file.appendFile(text))
      await file.sync()
      await rename(unfinished, path)
      return result
    } finally {
      await file.close()
    }
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
