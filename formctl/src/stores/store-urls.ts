import { join } from 'node:path'
import { findSampleSecrets, sampleRefusal } from '@fms/service-kit'
import type { NamedStore } from './named-store.ts'

/** The data folder of `npm start`. */
export const dataDir = ({ DATA_DIR }: NodeJS.ProcessEnv): string => DATA_DIR || '.data'

/** The store URLs of the environment. Default: the files of `npm start` in `DATA_DIR`. */
export const storeUrls = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, ...env }: NodeJS.ProcessEnv) => {
  const file = (name: string) => `sqlite:${join(dataDir(env), name)}`
  return {
    directory: DIRECTORY_STORE_URL || file('directory.db'),
    forms: FORMS_STORE_URL || file('forms.db'),
  }
}

/**
 * Both stores of the environment, with their names for error messages.
 *
 * @throws {Error} if a URL contains a sample password of `.env.example`, outside development.
 */
export const namedStores = (env: NodeJS.ProcessEnv): { directory: NamedStore; forms: NamedStore } => {
  const [sample] = findSampleSecrets(env, ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL'])
  if (sample) throw new Error(`${sample} ${sampleRefusal}.`)
  const { directory, forms } = storeUrls(env)
  const or = 'or DATA_DIR if it is not set'
  return {
    directory: { name: 'directory', url: directory, setting: `DIRECTORY_STORE_URL, ${or}` },
    forms: { name: 'forms', url: forms, setting: `FORMS_STORE_URL, ${or}` },
  }
}

/** A store's URL without user and password. */
export const withoutPassword = (url: string) => url.replace(/\/\/[^/]*@/, '//')
