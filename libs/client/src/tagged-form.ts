import type { Form } from './schemas.generated.ts'
import type { Call, Transport } from './transport.ts'

/** A form with the ETag of its state. */
export interface TaggedForm<F = Form> {
  form: F
  /** Value for `ifMatch`. `""` after a dry run, which `ifMatch` rejects. */
  etag: string
}

/** Sends a request whose response is a form. */
export const sendForm = async (send: Transport['send'], call: Call): Promise<TaggedForm> => {
  const { body: form, etag } = await send<Form>(call)
  return { form, etag }
}
