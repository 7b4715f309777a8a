import { toFieldViolations } from '@fms/aip'
import { z } from 'zod'
import { findSampleSecrets, sampleRefusal } from './sample-secrets.ts'

/** A port number; 0 takes any free one. */
export const Port = z.coerce.number().int().min(0).max(65_535)

/** The secret that services share to know each other: at least 32 bytes. */
export const InternalSecret = z
  .string({ error: 'is required: at least 32 random bytes, the same for every service' })
  .refine((secret) => Buffer.byteLength(secret) >= 32, { error: 'must have at least 32 bytes' })

export const LogFormat = z.enum(['json', 'pretty'])
export type LogFormat = z.infer<typeof LogFormat>

/** What every service reads from its environment. */
export const ServiceConfig = z.object({
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  PORT: Port.default(8080),
  INTERNAL_SECRET: InternalSecret,
  /** While `INTERNAL_SECRET` is rotated, the one before or after it: it signs nothing, and what it signed is taken. */
  INTERNAL_SECRET_ALSO_ACCEPTED: InternalSecret.optional(),
  /** How long a service that was told to stop waits for its callers to move over to another instance. */
  DRAIN_MS: z.coerce.number().int().min(0).max(8_000).default(4_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Lines for people, or a JSON object a line; by default whichever suits standard output. */
  LOG_FORMAT: LogFormat.default(() => (process.stdout.isTTY ? 'pretty' : 'json')),
})
export type ServiceConfig = z.infer<typeof ServiceConfig>

/** The secrets that identity and page tokens are taken under; the first one signs. */
export const internalSecretsOf = ({
  INTERNAL_SECRET,
  INTERNAL_SECRET_ALSO_ACCEPTED,
}: ServiceConfig): [string, ...string[]] => [
  INTERNAL_SECRET,
  ...(INTERNAL_SECRET_ALSO_ACCEPTED === undefined ? [] : [INTERNAL_SECRET_ALSO_ACCEPTED]),
]

/** The environment does not say what a service has to know. The message names every variable at fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads the environment, once, in `main.ts`. An empty variable counts as not set. A sample of `.env.example` in any
 * variable of the schema is refused unless `NODE_ENV` is `development`.
 *
 * @throws {ConfigError} naming every variable that is missing or wrong.
 */
export const readConfig = <S extends z.ZodType>(
  schema: S,
  env: NodeJS.ProcessEnv = process.env,
): z.output<S> => {
  const { data, error } = schema.safeParse(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  )
  const lines = [
    ...(error ? toFieldViolations(error).map(({ field, description }) => `${field} ${description}`) : []),
    ...findSampleSecrets(env, namesOf(schema)).map((name) => `${name} ${sampleRefusal}`),
  ]
  if (lines.length > 0) {
    throw new ConfigError(`The environment is not complete:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
  return data as z.output<S>
}

const namesOf = (schema: z.ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
