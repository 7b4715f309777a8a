import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type BackupNote, backupNoteFile } from '@fms/contracts'
import { type BackupSource, countRows, type Manifest, restoreBackup, writeBackup } from '../backup/backup.ts'
import { newestBackup, writeKeptBackup } from '../backup/keep-backups.ts'
import { Interruption } from '../bulk/interruption.ts'
import type { Command } from '../cli/command.ts'
import { parseWholeFrom } from '../cli/option-values.ts'
import { printOutcome } from '../cli/outcome.ts'
import { dataDir, namedStores } from '../stores/open-stores.ts'
import { fileOf } from '../stores/require-store.ts'

export const addBackupCommand = (formctl: Command): void => {
  const backup = formctl.command('backup').description('backups of both SQLite stores and the secrets')
  backup
    .command('create', { isDefault: true })
    .description(
      'copy both SQLite stores and the secrets into a new folder, while the system runs; the word create can be left out',
    )
    .argument('<folder>', 'a folder that does not exist; with --keep, the folder of all backups')
    .option(
      '--keep <number>',
      'add a folder named by its time, then delete the oldest ones',
      parseWholeFrom(1),
    )
    .action(createAction)
    .addHelpText(
      'after',
      '\nBACKUP_COMMAND, if it is set, is run in a shell with the folder of the backup as its last argument. If it fails,\nso does the backup.',
    )
    .examples('backup create "$DATA_DIR/backup"', 'backup create "$DATA_DIR/backups" --keep 7')
  backup
    .command('verify')
    .description('restore a backup into a temporary folder, and compare digests and counts')
    .argument('<folder>', 'a backup, or a folder with backups, of which the newest is verified')
    .action(verifyAction)
    .examples('backup verify "$DATA_DIR/backup"')
}

async function createAction(this: Command, folder: string) {
  const { keep } = this.opts<{ keep?: number }>()
  const source = { ...namedStores(process.env), dataDir: dataDir(process.env) }
  const written =
    keep === undefined
      ? { folder, manifest: await writeBackup(source, folder, new Date()), deleted: [] }
      : await writeKeptBackup(source, folder, keep, new Date())
  const { manifest, deleted } = written
  if (process.env.BACKUP_COMMAND) await runBackupCommand(process.env.BACKUP_COMMAND, written.folder)
  await noteBackup(source, { createTime: manifest.createTime, folder: resolve(written.folder) })
  const names = Object.keys(manifest.files).join(', ')
  const old = deleted.length > 0 ? ` Deleted ${deleted.length} older.` : ''
  printOutcome(this, {
    json: { folder: written.folder, ...manifest, ...(keep !== undefined && { deleted }) },
    text: `Backed up and verified in ${written.folder}: ${names}.${old}`,
  })
}

/**
 * Runs the operator's command with the folder of a backup as its last argument, such as an upload. Its output goes to stderr.
 *
 * @throws {Error} if it does not exit with 0.
 */
const runBackupCommand = async (command: string, folder: string): Promise<void> => {
  const child = spawn('sh', ['-c', `${command} "$1"`, 'BACKUP_COMMAND', folder], {
    stdio: ['ignore', process.stderr, process.stderr],
  })
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new Error(`BACKUP_COMMAND ended with ${signal ?? code}. The backup itself is complete: ${folder}.`)
}

/** Notes a good backup beside the forms store. The forms service exports its time as a metric. */
const noteBackup = async ({ forms }: BackupSource, note: BackupNote): Promise<void> => {
  const path = join(dirname(fileOf(forms)!), backupNoteFile)
  await writeFile(`${path}.new`, `${JSON.stringify(note)}\n`)
  await rename(`${path}.new`, path)
}

async function verifyAction(this: Command, given: string) {
  const folder = newestBackup(given)
  const { createTime, counts, files } = await verifyBackup(folder)
  const content = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  printOutcome(this, {
    json: { folder, createTime, counts, files },
    text: `The backup of ${createTime} in ${folder} can be restored: ${content.join(', ')}.`,
  })
}

/**
 * Restores a backup into a temporary folder, and compares digests and counts with those of the time of the backup.
 *
 * @throws {Error} if they differ, or the backup cannot be restored.
 */
const verifyBackup = async (folder: string): Promise<Manifest> => {
  using interruption = new Interruption()
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'formctl-verify-'))
  const store = <N extends string>(name: N) => ({
    name,
    url: `sqlite:${join(temporary.path, `${name}.db`)}`,
    setting: 'TMPDIR',
  })
  const manifest = await restoreBackup(folder, {
    directory: store('directory'),
    forms: store('forms'),
    dataDir: temporary.path,
  })
  interruption.check('Nothing was verified.')
  const counts = countRows(temporary.path)
  if (isDeepStrictEqual(counts, manifest.counts)) return manifest
  throw new Error(
    `${folder} restores to ${JSON.stringify(counts)}, and had ${JSON.stringify(manifest.counts)} when it was made.`,
  )
}

export const addRestoreCommand = (formctl: Command): void => {
  formctl
    .command('restore')
    .description('verify a backup and copy it into a DATA_DIR without stores')
    .argument('<folder>', 'the folder that `backup` created')
    .action(async function (this: Command, folder: string) {
      const target = { ...namedStores(process.env), dataDir: dataDir(process.env) }
      const { createTime, files } = await restoreBackup(folder, target)
      const names = Object.keys(files).join(', ')
      printOutcome(this, {
        json: { folder, dataDir: target.dataDir, createTime, files },
        text: `Restored the backup of ${createTime} into ${target.dataDir}: ${names}.`,
      })
    })
    .examples('restore "$DATA_DIR/backup"')
}
