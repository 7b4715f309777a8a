import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { makeApiKey, NewApiKey } from '@fms/directory-store'
import {
  ConfigError,
  InternalSecret,
  NatsUrl,
  PublicFormBaseUrl,
  readConfig,
  ServiceConfig,
  StoreUrl,
  withoutBlanks,
} from '@fms/service-kit/settings'
import { readOrCreateSecret } from '@fms/testkit/secret-file'
import { z } from 'zod'
import { FormsConfig } from '../services/forms/src/config.ts'
import { GatewayConfig } from '../services/gateway/src/config.ts'
import { OrganizationsConfig } from '../services/organizations/src/config.ts'
import { PublisherConfig } from '../services/publisher/src/config.ts'

/** Beyond it, the share of each process in the limits of a gateway would be too small. */
const maxDefaultInstances = 8

/** Gateways and forms processes by default: a quarter of the cores each, so that the other processes have the rest. */
export const defaultInstances = (cores: number): number =>
  Math.min(maxDefaultInstances, Math.max(1, Math.floor(cores / 4)))

const Instances = z.coerce
  .number()
  .int()
  .min(1)
  .max(64)
  .default(() => defaultInstances(availableParallelism()))

/** The variables that `npm start` itself reads. The services get the rest of the environment unchanged. */
const Environment = z.object({
  /** Of the gateway. `PORT=0` selects a free port. */
  ...ServiceConfig.shape,
  /** Folder of the embedded stores, JetStream and generated secrets. Relative to the repository. */
  DATA_DIR: z.string().default('.data'),
  /** Whether there is a demo organization with an owner and a key. Off in production. */
  DEMO: z.enum(['on', 'off']).default('on'),
  /** Number of gateways, which share `PORT`. */
  GATEWAYS: Instances,
  /** Number of forms processes, which share a port. */
  FORMS: Instances,
  /** Default: a file in `DATA_DIR`. */
  DIRECTORY_STORE_URL: StoreUrl.optional(),
  /** Default: a file in `DATA_DIR`. */
  FORMS_STORE_URL: StoreUrl.optional(),
  /** Default: a nats-server that `npm start` runs. */
  NATS_URL: NatsUrl.optional(),
  /** Default: `/f` of the gateway. */
  PUBLIC_FORM_BASE_URL: PublicFormBaseUrl.optional(),
  /** Default: generated at the first start, stored in `DATA_DIR`. */
  INTERNAL_SECRET: InternalSecret.optional(),
  /** Default: generated at the first start, stored in `DATA_DIR`. */
  DEMO_API_KEY: NewApiKey.shape.key,
})

export type StartConfig = ReturnType<typeof readStartConfig>

const serviceSchemas = [GatewayConfig, OrganizationsConfig, FormsConfig, PublisherConfig]

/** Valid values of what `npm start` sets for the services. */
const setByStart = {
  INTERNAL_SECRET: 'i'.repeat(32),
  ORGANIZATIONS_URL: 'http://127.0.0.1:1',
  FORMS_URL: 'http://127.0.0.1:1',
  NATS_URL: 'nats://127.0.0.1:1',
  DIRECTORY_STORE_URL: 'sqlite:directory.db',
  FORMS_STORE_URL: 'sqlite:forms.db',
  PUBLIC_FORM_BASE_URL: 'http://127.0.0.1:1/f',
}

/** @throws {ConfigError} naming every invalid variable, also those that only a service reads. */
export function readStartConfig(env: NodeJS.ProcessEnv) {
  const problems = [Environment, ...serviceSchemas].flatMap((schema) =>
    problemsOf(schema, { ...setByStart, ...withoutBlanks(env) }),
  )
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  const read = readConfig(Environment, env)
  const dataDir = resolve(read.DATA_DIR)
  const embedded = {
    DIRECTORY_STORE_URL: `sqlite:${join(dataDir, 'directory.db')}`,
    FORMS_STORE_URL: `sqlite:${join(dataDir, 'forms.db')}`,
  }
  return { ...embedded, ...read, DATA_DIR: dataDir }
}

function problemsOf(schema: z.ZodType, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(schema, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** The internal secret and, with a demo, its key, from the environment or from `DATA_DIR`, which must exist. */
export function readOrCreateSecrets(config: StartConfig) {
  const inDataDir = <T>(name: string, schema: z.ZodType<T>, create: () => string) =>
    readOrCreateSecret(join(config.DATA_DIR, name), create, (text) => schema.parse(text))
  const makeSecret = () => randomBytes(32).toString('base64url')
  const { key } = NewApiKey.shape
  return {
    internalSecret: config.INTERNAL_SECRET ?? inDataDir('internal-secret', InternalSecret, makeSecret),
    demoApiKey:
      config.DEMO === 'on' ? (config.DEMO_API_KEY ?? inDataDir('demo-api-key', key, makeApiKey)) : undefined,
  }
}
