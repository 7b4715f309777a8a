import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '@fms/aip'

/** The parameters of a request: its body without `requestId` and `validateOnly`, and what else the path has than the form. */
export type Parameters = JsonObject

/** The SHA-256 of the parameters in canonical form, in hexadecimal digits. Equal JSON values have equal digests. */
export const digestParameters = (parameters: Parameters): string => hash('sha256', canonicalJson(parameters))
