import type { Command } from 'commander'
import { restoreBackup } from '../backup/restore-backup.ts'
import { withExamples } from '../examples.ts'
import { printOutcome } from '../outcome.ts'
import { dataDir, namedStores } from '../store-urls.ts'

export const addRestoreCommand = (formctl: Command): void => {
  const restore = formctl
    .command('restore')
    .description('verify a backup and put it into a DATA_DIR that has no stores')
    .argument('<folder>', 'what `backup` wrote; it is only read')
    .action(async function (this: Command, folder: string) {
      const target = { ...namedStores(process.env), dataDir: dataDir(process.env) }
      const { createTime, files } = await restoreBackup(folder, target)
      const names = Object.keys(files).join(', ')
      printOutcome(this, {
        json: { folder, dataDir: target.dataDir, createTime, files },
        text: `Restored the backup of ${createTime} into ${target.dataDir}: ${names}.`,
      })
    })
  withExamples(restore, 'restore "$DATA_DIR/backup"')
}
