import { ApiError } from '@fms/aip'
import { withoutPassword } from './store-urls.ts'

/** A store with its name in error messages. */
export interface NamedStore {
  name: 'directory' | 'forms'
  url: string
  /** The variable or option that sets the URL. */
  setting: string
}

/**
 * Runs `work`, and adds the store's name and URL to the error if the store is unreachable.
 *
 * @throws other errors of `work` unchanged.
 */
export const withStoreName = async <T>(store: NamedStore, work: () => Promise<T>): Promise<T> => {
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
