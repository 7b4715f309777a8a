import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const document = join(import.meta.dirname, '../../../docs/performance.md')

/**
 * The number of requests to MongoDB of an operation, by the table in docs/performance.md.
 *
 * @throws {Error} when the table has no such operation.
 */
export const documentedRequests = (operation: string): number => {
  const [, table = ''] = readFileSync(document, 'utf8').split('| requests | operations |')
  for (const row of table.split('\n')) {
    const [, requests, operations = ''] = row.split('|')
    if (operations.split(';').some((each) => each.trim() === operation)) return Number(requests)
  }
  throw new Error(`docs/performance.md has no number of requests for: ${operation}`)
}
