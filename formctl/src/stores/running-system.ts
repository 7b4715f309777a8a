import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { dataDir } from './open-stores.ts'

/** What commands read of the file that `npm start` writes. */
const StartedSystem = z.looseObject({ baseUrl: z.url() })

/** The base URL of the API that `npm start` has last served from `DATA_DIR`; undefined if it has not run there. */
export const readBaseUrl = (env: NodeJS.ProcessEnv): string | undefined => {
  try {
    return StartedSystem.parse(JSON.parse(readFileSync(join(dataDir(env), 'system.json'), 'utf8'))).baseUrl
  } catch {
    return undefined
  }
}
