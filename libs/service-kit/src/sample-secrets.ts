const samplePrefix = 'sample'

/** The password of a URL, or of each URL in a comma-separated list. */
const passwordInUrl = /\/\/[^:/@]*:([^@/]*)@/g

/** Finds variables with samples of `.env.example`, as `deploy/check-secrets.sh` does; none in development. */
export const findSampleSecrets = (env: NodeJS.ProcessEnv, names: readonly string[]): string[] =>
  env.NODE_ENV === 'development' ? [] : names.filter((name) => secretsIn(env[name] ?? '').some(isSample))

/** The rest of an error message that begins with the name of the variable. */
export const sampleRefusal =
  'is a sample of .env.example, which is public. Replace it (openssl rand -hex 32), or set NODE_ENV=development to try things out'

const secretsIn = (value: string): string[] => [
  value,
  ...[...value.matchAll(passwordInUrl)].map(([, password]) => password!),
]

const isSample = (secret: string): boolean => secret.startsWith(samplePrefix)
