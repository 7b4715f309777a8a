import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '@fms/aip'

/** The SHA-256 in hexadecimal digits of a request's parameters in canonical form: equal JSON has equal digests. */
export const digestParameters = (parameters: JsonObject): string => hash('sha256', canonicalJson(parameters))
