import { join } from 'node:path'

/** The stores that the environment names; by default files in `DATA_DIR`, as `npm start` has it. */
export const storeUrls = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, DATA_DIR }: NodeJS.ProcessEnv) => {
  const file = (name: string) => `sqlite:${join(DATA_DIR || '.data', name)}`
  return {
    directory: DIRECTORY_STORE_URL || file('directory.db'),
    forms: FORMS_STORE_URL || file('forms.db'),
  }
}
