import { ApiError } from '@fms/aip'

/** An unknown, expired or revoked key, without telling which. For the gateway, which words its callers' answer itself. */
export const apiKeyInvalid = () =>
  new ApiError('UNAUTHENTICATED', 'API_KEY_INVALID', 'The API key is not valid. Use another one.', {
    headers: { 'www-authenticate': 'ApiKey realm="forms"' },
  })
