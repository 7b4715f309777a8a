import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../../..')

/** Suites that start a MongoDB in a module of theirs. `e2e/system.ts` starts one only for the project "on MongoDB". */
const indirect = ['e2e/compose/compose.test.ts', 'e2e/upgrade.test.ts']

/**
 * The test files that need a MongoDB: those in a folder `mongodb`, and those that import `@fms/testkit/mongodb`.
 *
 * @returns paths from the root of the repository, in order.
 */
export const mongodbSuites = (): string[] =>
  globSync('{libs,services,formctl,scripts,bench,tools,e2e}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
    .filter((path) => indirect.includes(path) || /\/mongodb\//.test(path) || startsMongodb(path))
    .sort()

const startsMongodb = (path: string): boolean =>
  /from '(?:@fms\/testkit|\.)\/mongodb(?:\.ts)?'/.test(readFileSync(join(root, path), 'utf8'))
