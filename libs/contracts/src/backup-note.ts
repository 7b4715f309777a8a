import { z } from 'zod'
import { Timestamp } from './text.ts'

/** The file beside `forms.db` in which `formctl backup` notes its last success, a {@link BackupNote} as JSON. */
export const backupNoteFile = 'last-backup.json'

/** The last good backup of the SQLite stores. */
export const BackupNote = z.object({ createTime: Timestamp, folder: z.string() })
export type BackupNote = z.infer<typeof BackupNote>

/** A good backup should be no older: a day, and two hours for a timer that is late. The alert `BackupOld` has it, too. */
export const maxBackupAgeHours = 26
