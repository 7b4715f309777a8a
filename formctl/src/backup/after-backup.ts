import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BackupNote, backupNoteFile } from '@fms/contracts'
import { fileOf } from '../stores/require-store.ts'
import type { BackupSource } from './backup.ts'

/**
 * Runs the operator's command with the folder of a backup as its last argument, such as an upload. Its output goes to stderr.
 *
 * @throws {Error} if it does not exit with 0.
 */
export const runBackupCommand = async (command: string, folder: string): Promise<void> => {
  const child = spawn('sh', ['-c', `${command} "$1"`, 'BACKUP_COMMAND', folder], {
    stdio: ['ignore', process.stderr, process.stderr],
  })
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new Error(`BACKUP_COMMAND ended with ${signal ?? code}. The backup itself is complete: ${folder}.`)
}

/** Notes a good backup beside the forms store. The forms service exports its time as a metric. */
export const noteBackup = async ({ forms }: BackupSource, note: BackupNote): Promise<void> => {
  const path = join(dirname(fileOf(forms)!), backupNoteFile)
  await writeFile(`${path}.new`, `${JSON.stringify(note)}\n`)
  await rename(`${path}.new`, path)
}
