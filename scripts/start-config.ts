import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { API_KEY_PATTERN, makeApiKey } from '@fms/directory-store'
import { InternalSecret, readConfig, ServiceConfig } from '@fms/service-kit'
import { keepSecret } from '@fms/testkit/keep-secret'
import { z } from 'zod'

/** What `npm start` itself reads of the environment; the services get the rest of it as it is. */
const Environment = z.object({
  /** The gateway's; `PORT` 0 takes a free one. */
  ...ServiceConfig.shape,
  /** Embedded stores, JetStream, and what is made once. Relative to the repository. */
  DATA_DIR: z.string().default('.data'),
  /** Default: a file in `DATA_DIR`. */
  DIRECTORY_STORE_URL: z.string().optional(),
  /** Default: a file in `DATA_DIR`. */
  FORMS_STORE_URL: z.string().optional(),
  /** Default: a nats-server that `npm start` runs. */
  NATS_URL: z.string().optional(),
  /** Default: `/f` of the gateway. */
  PUBLIC_FORM_BASE_URL: z.url().optional(),
  /** Default: made once, kept in `DATA_DIR`. */
  INTERNAL_SECRET: InternalSecret.optional(),
  /** Default: made once, kept in `DATA_DIR`. */
  DEMO_API_KEY: z
    .string()
    .regex(API_KEY_PATTERN, { error: 'must be fms_ and 43 characters of A-Z, a-z, 0-9, _ and -' })
    .optional(),
})

export type StartConfig = ReturnType<typeof readStartConfig>

/** @throws {ConfigError} naming every variable that is wrong. */
export function readStartConfig(env: NodeJS.ProcessEnv) {
  const read = readConfig(Environment, env)
  const dataDir = resolve(read.DATA_DIR)
  const embedded = {
    DIRECTORY_STORE_URL: `sqlite:${join(dataDir, 'directory.db')}`,
    FORMS_STORE_URL: `sqlite:${join(dataDir, 'forms.db')}`,
  }
  return { ...embedded, ...read, DATA_DIR: dataDir }
}

/** What nobody has to choose: the same at every start. `DATA_DIR` has to be there. */
export function keepSecrets(config: StartConfig) {
  const kept = (name: string, make: () => string) => keepSecret(join(config.DATA_DIR, name), make)
  return {
    internalSecret:
      config.INTERNAL_SECRET ?? kept('internal-secret', () => randomBytes(32).toString('base64url')),
    demoApiKey: config.DEMO_API_KEY ?? kept('demo-api-key', makeApiKey),
  }
}
