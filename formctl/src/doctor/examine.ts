import { type Check, fail, reasonOf } from './check.ts'
import { checkDisk } from './disk.ts'
import { checkEnvironment } from './environment.ts'
import { checkNats } from './nats.ts'
import { checkStores } from './stores.ts'
import { checkVersions } from './versions.ts'

/** Looks at everything that the service stands on, and changes nothing. */
export const examine = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const environment = checkEnvironment(env)
  const checks = await Promise.all([
    checkVersions(),
    environment,
    usesDataDir(env) ? checkDisk(env.DATA_DIR || '.data') : [],
    checkStores(env),
    environment.message.includes('NATS_URL must')
      ? fail('nats', 'not checked: NATS_URL cannot be read', 'Set it right first.')
      : checkNats(env),
  ]).catch((error) => [environment, fail('doctor', reasonOf(error), 'Report this as a defect.')])
  return checks.flat()
}

const usesDataDir = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, NATS_URL }: NodeJS.ProcessEnv): boolean =>
  !(DIRECTORY_STORE_URL && FORMS_STORE_URL && NATS_URL)
