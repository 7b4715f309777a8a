import { type Check, fail, ok, reasonOf } from './check.ts'
import { checkDisk } from './disk.ts'
import { checkEnvironment } from './environment.ts'
import { checkNats } from './nats.ts'
import { checkStores } from './stores.ts'

/** Checks configuration, disk, stores and NATS, without changes. */
export const runChecks = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const environment = checkEnvironment(env)
  const checks = await Promise.all([
    checkVersions(),
    environment,
    usesDataDir(env) ? checkDisk(env.DATA_DIR || '.data') : [],
    checkStores(env),
    environment.message.includes('NATS_URL must')
      ? fail('nats', 'not checked: NATS_URL is invalid', 'Correct NATS_URL first.')
      : checkNats(env),
  ]).catch((error) => [environment, fail('doctor', reasonOf(error), 'Report this as a defect.')])
  return checks.flat()
}

const checkVersions = (): Check =>
  ok('versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, ${process.platform}`)

const usesDataDir = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, NATS_URL }: NodeJS.ProcessEnv): boolean =>
  !(DIRECTORY_STORE_URL && FORMS_STORE_URL && NATS_URL)
