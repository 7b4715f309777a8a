import type { Command } from 'commander'
import { writeBackup } from '../backup/write-backup.ts'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { dataDir, namedStores } from '../stores/store-urls.ts'

export const addBackupCommand = (formctl: Command): void => {
  const backup = formctl
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
  addExamples(backup, 'backup "$DATA_DIR/backup"')
}
