/** Part of `npm run check`: fails if the licence of a dependency is not on the list. */
import { dependenciesOf, licenceProblems, readLockFile } from './licences.ts'

const problems = licenceProblems(dependenciesOf(readLockFile()))
if (problems.length > 0) {
  process.stderr.write(
    `Licences that are not on the list of tools/supply-chain/licences.ts:\n${problems.map((line) => `  ${line}\n`).join('')}` +
      'Use another package, or read the licence and add it to the list.\n',
  )
  process.exitCode = 1
}
