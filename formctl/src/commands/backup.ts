import type { Command } from 'commander'
import { restoreBackup, writeBackup } from '../backup/backup.ts'
import { examples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { dataDir, namedStores } from '../stores/open-stores.ts'

export const addBackupCommand = (formctl: Command): void => {
  formctl
    .command('backup')
    .description('copy both SQLite stores and the secrets into a new folder, while the system runs')
    .argument('<folder>', 'a folder that does not exist')
    .action(async function (this: Command, folder: string) {
      const source = { ...namedStores(process.env), dataDir: dataDir(process.env) }
      const manifest = await writeBackup(source, folder, new Date())
      const names = Object.keys(manifest.files).join(', ')
      printOutcome(this, {
        json: { folder, ...manifest },
        text: `Backed up and verified in ${folder}: ${names}.`,
      })
    })
    .addHelpText(...examples('backup "$DATA_DIR/backup"'))
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
    .addHelpText(...examples('restore "$DATA_DIR/backup"'))
}
