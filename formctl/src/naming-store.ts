import { ApiError } from '@fms/aip'
import { withoutPassword } from './store-urls.ts'

/** A store of this service, as error messages name it. */
export interface NamedStore {
  name: 'directory' | 'forms'
  url: string
  /** What names the store: a variable of the environment, or an option. */
  setting: string
}

/**
 * Runs `work` on a store.
 *
 * @throws {Error} that names the store where it cannot be reached; any other error of `work` as it is.
 */
export const namingStore = async <T>(store: NamedStore, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ApiError && error.reason === 'STORE_UNAVAILABLE'
      ? unreachable(store, error)
      : error
  }
}

const unreachable = ({ name, url, setting }: NamedStore, error: ApiError): Error => {
  const { cause } = error.parts
  const reason = cause instanceof Error ? ` (${cause.message})` : ''
  return new Error(
    `The ${name} store at ${withoutPassword(url)} cannot be reached${reason}. Check ${setting}, and that the store runs.`,
    { cause: error },
  )
}
