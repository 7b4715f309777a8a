import { ifMatchPattern } from '@fms/aip'
import { codes, NoQuery, type Operation } from '@fms/contracts'
import { event, key } from './examples.ts'
import { type Schema, schemaOf } from './schemas.ts'

const pathParameters: Record<string, { description: string; example: string }> = {
  organizationRef: {
    description:
      "The organization's UUID, or its slug. `-` where a form, or its revision `live`, is read by `publicId`: the form may be in any of your organizations (AIP-159).",
    example: 'demo',
  },
  formRef: { description: "The form's UUID, or its `publicId`.", example: 'Ab3dE6gH9j' },
  keyId: {
    description: "The key's UUID: the last part of its `path`.",
    example: key.path.slice('keys/'.length),
  },
  eventId: { description: 'The `id` of the event.', example: event.id },
  revisionRef: {
    description: "The revision's UUID, `live`, or `latest`: the revision with the highest number.",
    example: 'live',
  },
}

/** Without an example, which the reference page would send with every request. */
const requestHeader = (name: string, description: string, schema: Schema) => ({
  name,
  in: 'header',
  description,
  schema,
})

export const parameters = {
  ...Object.fromEntries(
    Object.entries(pathParameters).map(([name, { description, example }]) => [
      name,
      { name, in: 'path', required: true, description, schema: { type: 'string' }, example },
    ]),
  ),
  'x-request-id': requestHeader(
    'x-request-id',
    'Your own id for this request: 1 to 128 visible ASCII characters. Anything else is replaced.',
    { type: 'string' },
  ),
  'if-match': requestHeader(
    'if-match',
    'Rejects the request (412) unless the draft has this ETag, such as `"3-live.12"`. `*` matches any existing form.',
    { type: 'string', pattern: ifMatchPattern },
  ),
  'if-none-match': requestHeader(
    'if-none-match',
    'Responds with 304 while the form has this ETag, such as `"3-live.12"`.',
    { type: 'string' },
  ),
  'last-event-id': requestHeader(
    'last-event-id',
    'The last `id` of an interrupted stream, which continues after it. Takes precedence over `afterSequence`.',
    { type: 'string', pattern: '^[0-9]{0,16}$' },
  ),
}

export const queryParameters = ({ query = NoQuery, filterFields, orderFields }: Operation) => {
  const { properties = {} } = schemaOf(query, 'input')
  const fields: Record<string, string | undefined> = {
    filter: filterFields,
    orderBy: orderFields && codes(orderFields),
  }
  return Object.entries(properties as Record<string, Schema>).map(
    ([name, { description = '', ...schema }]) => ({
      name,
      in: 'query',
      description: fields[name] ? `${description} Fields: ${fields[name]}.` : description,
      schema,
    }),
  )
}
