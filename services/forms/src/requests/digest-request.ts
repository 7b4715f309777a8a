import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '@fms/aip'

/** The parameters of a request: its body without `requestId` and `validateOnly`, and what else the path has than the form. */
export type Parameters = JsonObject

/** Input of a digest in a thread. */
export interface DigestTask {
  parameters: Parameters
  /** JSON text of the parameter `form`. */
  formJson: string
}

/** The SHA-256 of the parameters in canonical form, in hexadecimal digits. Equal JSON values have equal digests. */
export const digestParameters = (parameters: Parameters): string => hash('sha256', canonicalJson(parameters))

/** {@link digestParameters} in a worker thread. */
export const runDigestTask = ({ parameters, formJson }: DigestTask): string =>
  digestParameters({ ...parameters, form: JSON.parse(formJson) })
