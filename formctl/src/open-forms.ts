import { type FormsStore, openFormsStore } from '@fms/forms-store'
import { storeUrls } from './store-urls.ts'

/** The forms store that the environment names. */
export const openForms = async (): Promise<FormsStore> => {
  try {
    const store = await openFormsStore(storeUrls(process.env).forms)
    await store.ping()
    return store
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `The forms store cannot be opened. Check FORMS_STORE_URL, or DATA_DIR without it. ${reason}`,
      { cause },
    )
  }
}
