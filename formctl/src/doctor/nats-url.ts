import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface EmbeddedConfig {
  port: number
  authorization: { users: { user: string; password: string }[] }
}

/**
 * The URL of NATS: `NATS_URL`, or the operator's URL of the server that `npm start` runs. The operator may inspect streams.
 *
 * @returns undefined if `NATS_URL` is not set and `npm start` has not run in `DATA_DIR`.
 */
export const findNatsUrl = ({ NATS_URL, DATA_DIR }: NodeJS.ProcessEnv): string | undefined => {
  if (NATS_URL) return NATS_URL
  try {
    const file = join(DATA_DIR || '.data', 'nats', 'nats-server.conf')
    const { port, authorization }: EmbeddedConfig = JSON.parse(readFileSync(file, 'utf8'))
    const operator = authorization.users.find(({ user }) => user === 'operator')!
    return `nats://operator:${encodeURIComponent(operator.password)}@127.0.0.1:${port}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
