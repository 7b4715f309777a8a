import type { Form } from './schemas.generated.ts'
import type { Call, CallOptions, Transport } from './transport/transport.ts'

export interface WriteOptions extends CallOptions {
  /** Dry run: performs all checks, stores nothing, and returns the result of the write; default false. */
  validateOnly?: boolean
  /**
   * A UUID, with which a whole call can be repeated safely: the service executes calls with the same one only once, and
   * remembers it for at least a day, except for an update or rollback that changed nothing. Default: a new one for each
   * call, which its retries share; none for `forms.update`.
   */
  requestId?: string
}

export interface ChangeOptions extends WriteOptions {
  /** ETag of the expected state. A draft in another state is not changed: FORM_MOVED. */
  ifMatch?: string
}

export interface TaggedForm<F = Form> {
  form: F
  /** Value for `ifMatch`. `""` after a dry run, which `ifMatch` rejects. */
  etag: string
}

export const sendForm = async (send: Transport['send'], call: Call): Promise<TaggedForm> => {
  const { body: form, etag } = await send<Form>(call)
  return { form, etag }
}

/** Creates or changes a form by a POST. @param members of the body, besides those of the options. */
export const postForm = (
  send: Transport['send'],
  path: string,
  { requestId = newRequestId(), ifMatch, validateOnly = false, signal }: ChangeOptions = {},
  members: object = {},
): Promise<TaggedForm> =>
  sendForm(send, { method: 'POST', path, body: { ...members, requestId, validateOnly }, ifMatch, signal })

export const deleteForm = async (
  send: Transport['send'],
  path: string,
  { requestId = newRequestId(), ifMatch, validateOnly, signal }: ChangeOptions = {},
): Promise<void> => {
  // In the query: proxies may drop the body of a DELETE, and a dry run must not delete.
  const query = { requestId, validateOnly: validateOnly || undefined }
  await send({ method: 'DELETE', path, query, ifMatch, signal })
}

/** A new UUID (version 4). Unlike `crypto.randomUUID`, also works on pages without https. */
export const newRequestId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
