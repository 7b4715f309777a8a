import { ApiError } from '@fms/aip'

/**
 * API_KEY_INVALID: the key is unknown, expired or revoked; the error does not say which. The gateway has its own
 * error for its clients.
 */
export const apiKeyInvalid = () =>
  new ApiError('UNAUTHENTICATED', 'API_KEY_INVALID', 'The API key is not valid. Use another one.', {
    headers: { 'www-authenticate': 'ApiKey realm="forms"' },
  })
