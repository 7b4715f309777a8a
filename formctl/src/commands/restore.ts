import type { Command } from 'commander'
import { restoreBackup } from '../backup/restore-backup.ts'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { dataDir, namedStores } from '../stores/store-urls.ts'

export const addRestoreCommand = (formctl: Command): void => {
  const restore = formctl
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
  addExamples(restore, 'restore "$DATA_DIR/backup"')
}
