import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BackupNote, backupNoteFile } from '@fms/contracts'
import { Gauge } from '@fms/service-kit'

let noteFile: string | undefined
new Gauge({
  name: 'backup_last_success_timestamp_seconds',
  help: 'When formctl backup last succeeded, in seconds since the epoch; 0 for never. Only on SQLite',
  async collect() {
    this.remove()
    if (noteFile) this.set((await readTimeMs(noteFile)) / 1000)
  },
})

/** Exports the time of the last good backup, which formctl notes beside a SQLite file. MongoDB has backups of its own. */
export const reportBackups = (formsStoreUrl: string): void => {
  if (!formsStoreUrl.startsWith('sqlite:') || formsStoreUrl === 'sqlite::memory:') return
  noteFile = join(dirname(formsStoreUrl.slice('sqlite:'.length)), backupNoteFile)
}

/** The time in a note in milliseconds; 0 without one. */
const readTimeMs = async (path: string): Promise<number> => {
  try {
    return Date.parse(BackupNote.parse(JSON.parse(await readFile(path, 'utf8'))).createTime)
  } catch {
    return 0
  }
}
