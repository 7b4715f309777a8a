/** A supervisor in its own process: `node supervisor.ts OPTIONS-AS-JSON`. SIGTERM stops it. */

import type { Program } from '@fms/testkit/processes'
import { lockDataDir } from '../data-dir.ts'
import { supervise } from '../supervise.ts'

const { dataDir, programs } = JSON.parse(process.argv[2]!) as { dataDir: string; programs: Program[] }
try {
  lockDataDir(dataDir)
} catch (error) {
  process.stderr.write((error as Error).message)
  process.exit(1)
}
const supervisor = supervise(programs, {
  warn: (fields) => process.stdout.write(`${JSON.stringify({ event: 'died', ...fields })}\n`),
})
process.once('SIGTERM', async () => {
  await supervisor.stop()
  process.exit(0)
})
