import { ApiError } from '@fms/aip'

/** The store cannot serve just now (locked, full, out of reach). Nothing was changed; a repeat may succeed. */
export const storeUnavailable = (cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'STORE_UNAVAILABLE',
    'The store cannot be reached just now. Repeat the request in a moment.',
    {
      retryAfterSeconds: 1,
      cause,
    },
  )
