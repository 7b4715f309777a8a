import { toFieldViolations } from '@fms/aip'
import { z } from 'zod'
import { CollectorUrl } from './config-urls.ts'
import { findSampleSecrets, sampleRefusal } from './sample-secrets.ts'

/** A port number; 0 selects a free port. */
export const Port = z.coerce.number().int().min(0).max(65_535)

/** The secret that signs identity tokens between services: at least 32 bytes. */
export const InternalSecret = z
  .string({ error: 'is required: at least 32 random bytes, the same for every service' })
  .refine((secret) => Buffer.byteLength(secret) >= 32, { error: 'must have at least 32 bytes' })

export const LogFormat = z.enum(['json', 'pretty'])
export type LogFormat = z.infer<typeof LogFormat>

export const ServiceConfig = z.object({
  /** Address to listen on. */
  HOST: z.string().default('127.0.0.1'),
  PORT: Port.default(8080),
  /** Where several processes share `PORT` (`SO_REUSEPORT`): a port of 127.0.0.1 for the probes and metrics of this one. */
  PROBE_PORT: Port.optional(),
  INTERNAL_SECRET: InternalSecret,
  /** During a rotation of `INTERNAL_SECRET`, the previous or next secret: accepted, but not used to sign. */
  INTERNAL_SECRET_ALSO_ACCEPTED: InternalSecret.optional(),
  /** How long a stopping service waits for its callers to move to another instance, in milliseconds. */
  DRAIN_MS: z.coerce.number().int().min(0).max(8_000).default(4_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Lines for people (`pretty`, the default on a terminal) or a JSON object per line (`json`). */
  LOG_FORMAT: LogFormat.default(() => (process.stdout.isTTY ? 'pretty' : 'json')),
  /** Where to send spans. The OpenTelemetry SDK reads it, and the other `OTEL_…` variables, itself. */
  OTEL_EXPORTER_OTLP_ENDPOINT: CollectorUrl.optional(),
})
export type ServiceConfig = z.infer<typeof ServiceConfig>

/** The quotas of an organization. Every process that creates forms or revisions reads them. */
export const QuotaConfig = z.object({
  /** The forms of an organization; 0 for no limit. 100,000 by default. */
  MAX_FORMS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(100_000),
  /** The bytes of an organization's drafts, revisions and events, as JSON in UTF-8; 0 for no limit. 10 GiB by default. */
  MAX_BYTES_PER_ORGANIZATION: z.coerce
    .number()
    .int()
    .min(0)
    .default(10 * 1024 ** 3),
})
export type QuotaConfig = z.infer<typeof QuotaConfig>

export const toQuota = (config: QuotaConfig) => ({
  forms: config.MAX_FORMS_PER_ORGANIZATION,
  bytes: config.MAX_BYTES_PER_ORGANIZATION,
})

/** The secrets of identity and page tokens. All are accepted; the first one signs. */
export const internalSecretsOf = ({
  INTERNAL_SECRET,
  INTERNAL_SECRET_ALSO_ACCEPTED,
}: ServiceConfig): [string, ...string[]] => [
  INTERNAL_SECRET,
  ...(INTERNAL_SECRET_ALSO_ACCEPTED === undefined ? [] : [INTERNAL_SECRET_ALSO_ACCEPTED]),
]

/** Exit code of a service whose environment is invalid: EX_CONFIG of sysexits.h. A restart does not help. */
export const configErrorExitCode = 78

/** The environment is invalid. The message names every missing or invalid variable, and no secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  /** @param problems a line for each variable: its name, and what it must be. */
  constructor(problems: readonly string[]) {
    super(`The environment is invalid:\n${problems.map((line) => `  ${line}`).join('\n')}`)
    this.problems = problems
  }
}

/** The variables of an environment that are set. A blank one counts as not set. */
export const withoutBlanks = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))

/** Reads the environment; blank is unset. Rejects samples of `.env.example` outside development. @throws {ConfigError} */
export const readConfig = <S extends z.ZodType>(
  schema: S,
  env: NodeJS.ProcessEnv = process.env,
): z.output<S> => {
  const { data, error } = schema.safeParse(withoutBlanks(env))
  const lines = [
    ...(error ? toFieldViolations(error).map(({ field, description }) => `${field} ${description}`) : []),
    ...findSampleSecrets(env, namesOf(schema)).map((name) => `${name} ${sampleRefusal}`),
  ]
  if (lines.length > 0) throw new ConfigError(lines)
  return data as z.output<S>
}

const namesOf = (schema: z.ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
