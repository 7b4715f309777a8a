/** Secrets of `.env.example` begin with this. */
const samplePrefix = 'sample'

/** The sample of `MONGODB_KEY` in earlier releases. */
const formerSample = 'c2FtcGxl'

/** The password of a URL, or of each of several that are separated by commas. */
const passwordInUrl = /\/\/[^:/@]*:([^@/]*)@/g

/**
 * Names the variables whose value, or the password in whose URL, is a sample of `.env.example`. Everybody knows the
 * samples, so they are refused unless `NODE_ENV` is `development`. `deploy/check-secrets.sh` applies the same rule to
 * the containers that are not ours.
 *
 * @param names the variables to look at.
 * @returns names in the order of `names`; none in development.
 */
export const findSampleSecrets = (env: NodeJS.ProcessEnv, names: readonly string[]): string[] =>
  env.NODE_ENV === 'development' ? [] : names.filter((name) => secretsIn(env[name] ?? '').some(isSample))

/** What to do about a sample, for an error message that begins with the variable's name. */
export const sampleRefusal =
  'is a sample of .env.example, which everybody knows. Replace it (openssl rand -hex 32), or set NODE_ENV=development to try things out'

const secretsIn = (value: string): string[] => [
  value,
  ...[...value.matchAll(passwordInUrl)].map(([, password]) => password!),
]

const isSample = (secret: string): boolean => secret.startsWith(samplePrefix) || secret === formerSample
