/**
 * Migrates a forms file to the given version, and is killed before the commit.
 *
 *     node kill-in-migration.ts FILE VERSION
 */
import { SqliteDatabase } from '@fms/store-kit'
import { functions, migrations } from '../schema.ts'

const [path = '', version = ''] = process.argv.slice(2)
const kill = () => {
  process.kill(process.pid, 'SIGKILL')
}
new SqliteDatabase(path, [...migrations.slice(0, Number(version)), kill], { foreignKeys: false, functions })
