import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const document = join(import.meta.dirname, '../../../docs/performance.md')

/**
 * The number of requests to MongoDB of an operation, by the table in docs/performance.md.
 *
 * @throws {Error} when the table has no such operation.
 */
export const documentedRequests = (operation: string): number => {
  const [, table] = readFileSync(document, 'utf8').split('| operation | requests to MongoDB |')
  const row = table?.split('\n').find((line) => line.startsWith(`| ${operation} |`))
  if (!row) throw new Error(`docs/performance.md has no number of requests for: ${operation}`)
  return Number(row.split('|')[2])
}
