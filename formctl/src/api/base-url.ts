import { parseBaseUrl } from '../cli/option-values.ts'

/**
 * The base URL of the API in the variable `FORMS_API_URL`, without a slash at its end.
 *
 * @throws {Error} if it is not the base URL of an API.
 */
export const baseUrlOf = (variable: string): string => {
  try {
    return parseBaseUrl(variable)
  } catch (cause) {
    throw new Error(`FORMS_API_URL is not valid. ${(cause as Error).message}`, { cause })
  }
}
