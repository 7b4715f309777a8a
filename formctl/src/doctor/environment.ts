import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OptionalUrl } from '@fms/contracts'
import {
  ConfigError,
  CorsOrigins,
  InternalSecret,
  NatsUrl,
  Origins,
  QuotaConfig,
  readConfig,
  ServiceConfig,
  ServiceOrigin,
  StoreUrl,
  TrustedProxies,
} from '@fms/service-kit/settings'
import { z } from 'zod'
import { type Check, fail, ok, warn } from './check.ts'

/** Every variable that a service or `npm start` reads. All are optional, since `npm start` has a default for each. */
export const DoctorEnvironment = z.object({
  ...ServiceConfig.shape,
  INTERNAL_SECRET: InternalSecret.optional(),
  DATA_DIR: z.string().default('.data'),
  DIRECTORY_STORE_URL: StoreUrl.optional(),
  FORMS_STORE_URL: StoreUrl.optional(),
  NATS_URL: NatsUrl.optional(),
  PUBLIC_FORM_BASE_URL: OptionalUrl.optional(),
  ORGANIZATIONS_URL: ServiceOrigin.optional(),
  FORMS_URL: ServiceOrigin.optional(),
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).optional(),
  DELETED_FORMS_DAYS: z.coerce.number().int().min(0).max(3_650).optional(),
  EVENTS_STREAM_DAYS: z.coerce.number().int().min(1).max(3_650).optional(),
  EVENTS_STREAM_BYTES: z.coerce.number().int().min(1_048_576).optional(),
  EVENTS_STREAM_PER_TYPE: z.coerce.number().int().min(1).max(1_000_000_000).optional(),
  EVENTS_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  MAX_EVENTS_PER_ORGANIZATION: z.coerce.number().int().min(0).optional(),
  PUBLISH_TIMEOUT_MS: z.coerce.number().int().min(1).max(600_000).optional(),
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).optional(),
  MAX_REQUESTS: z.coerce.number().int().min(1).optional(),
  MAX_REQUESTS_PER_USER: z.coerce.number().int().min(0).optional(),
  MAX_REQUESTS_PER_ORGANIZATION: z.coerce.number().int().min(0).optional(),
  MAX_CONNECTIONS: z.coerce.number().int().min(1).optional(),
  MAX_KEY_LOOKUPS: z.coerce.number().int().min(1).optional(),
  MAX_BUFFERED_RESPONSE_BYTES: z.coerce.number().int().min(5_767_168).optional(),
  TRUST_PROXY: TrustedProxies.optional(),
  CORS_ORIGINS: CorsOrigins.optional(),
  PUBLIC_FORMS: z.enum(['on', 'off']).optional(),
  PUBLIC_FORM_IMAGE_ORIGINS: Origins.optional(),
  ...QuotaConfig.shape,
})

/** Fails on values with which a service would not start. */
export const checkEnvironment = (env: NodeJS.ProcessEnv): Check => {
  try {
    return checkSecret(readConfig(DoctorEnvironment, env))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [, ...violations] = error.message.split('\n')
    const message = violations.map((line) => line.trim()).join('; ')
    return fail('environment', message, 'Correct these variables: services do not start with them.')
  }
}

const checkSecret = ({ INTERNAL_SECRET, DATA_DIR, ...config }: z.infer<typeof DoctorEnvironment>): Check => {
  const given = ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL', 'NATS_URL'].filter((name) => name in config)
  const message = given.length > 0 ? `valid; ${given.join(', ')} set` : `valid; all data is in ${DATA_DIR}`
  const isFromNpmStart = given.length < 3 || existsSync(join(DATA_DIR, 'internal-secret'))
  if (INTERNAL_SECRET || isFromNpmStart) return ok('environment', message)
  return warn(
    'environment',
    `${message}; INTERNAL_SECRET is not set here`,
    'Services do not start without it: at least 32 random bytes, the same for all.',
  )
}
