import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, withoutBlanks } from '@fms/service-kit/settings'
import { readStartConfig } from '../../../scripts/start-config.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Fails on values with which `npm start` or a service would not start. What `npm start` sets may be absent. */
export const checkEnvironment = (env: NodeJS.ProcessEnv): Check => {
  try {
    readStartConfig(env)
    return checkSecret(withoutBlanks(env))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(
      'environment',
      error.problems.join('; '),
      'Correct these variables: services do not start with them.',
    )
  }
}

const checkSecret = ({ INTERNAL_SECRET, DATA_DIR = '.data', ...env }: NodeJS.ProcessEnv): Check => {
  const given = ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL', 'NATS_URL'].filter((name) => name in env)
  const message = given.length > 0 ? `valid; ${given.join(', ')} set` : `valid; all data is in ${DATA_DIR}`
  const isFromNpmStart = given.length < 3 || existsSync(join(DATA_DIR, 'internal-secret'))
  if (INTERNAL_SECRET || isFromNpmStart) return ok('environment', message)
  return warn(
    'environment',
    `${message}; INTERNAL_SECRET is not set here`,
    'Services do not start without it: at least 32 random bytes, the same for all.',
  )
}
