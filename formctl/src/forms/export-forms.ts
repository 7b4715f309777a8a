import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { FormRecord } from '@fms/contracts'
import type { FormsStore } from '@fms/forms-store'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import type { Command } from '../cli/command.ts'
import { formsKind } from '../copy/store-kinds.ts'
import { countAllForms } from './organization-forms.ts'

interface Export {
  store: FormsStore
  /** Default: all organizations. */
  organizationId?: string
}

/** Writes forms as NDJSON, by organization and public id; deleted ones of an organization last. Returns how many. */
export const exportForms = async (
  command: Command,
  { store, organizationId }: Export,
  write: (line: string) => Promise<void> | void,
): Promise<number> => {
  using interruption = new Interruption()
  const organizations = (await Array.fromAsync(store.organizations())).filter(
    (each) => !organizationId || each.organizationId === organizationId,
  )
  const total = await countAllForms(store, organizations)
  using progress = await startProgress(command, 'Exporting forms', total)
  let written = 0
  for (const organization of organizations) {
    for await (const record of interruption.until(store.exportForms(organization.organizationId))) {
      await write(`${lineOf(record)}\n`)
      written++
      progress.step()
    }
  }
  interruption.check('Some forms are not exported. Repeat the command.')
  return written
}

const lineOf = (record: FormRecord): string => {
  try {
    return JSON.stringify(record)
  } catch (cause) {
    // V8 limits strings to 512 MiB.
    throw new Error(`${formsKind.nameOf(record)} is too large for a line. Copy it with formctl copy.`, {
      cause,
    })
  }
}

/** Writes a new file, mode 0600, that appears only when `work` has succeeded. @throws {Error} if the file exists. */
export const writeNewFile = async <T>(
  path: string,
  work: (write: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> => {
  if (path === '') throw new Error('The name of the file is empty.')
  if (existsSync(path)) throw new Error(`${path} exists. Choose another name, or remove it first.`)
  const unfinished = `${path}.${process.pid}.unfinished`
  try {
    const file = await open(unfinished, 'wx', 0o600).catch((cause) => {
      throw new Error(`${path} cannot be created (${cause.code}). Choose another name.`, { cause })
    })
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
