import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '@fms/aip'

/**
 * The SHA-256 of the parameters of a request in canonical form, in hexadecimal digits. Equal JSON values have equal digests.
 *
 * @param parameters the body without `requestId` and `validateOnly`, and what else the path has than the form.
 */
export const digestParameters = (parameters: JsonObject): string => hash('sha256', canonicalJson(parameters))
