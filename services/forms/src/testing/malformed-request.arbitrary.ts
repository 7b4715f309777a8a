import { FormDraft, isPublicId, isUuid } from '@fms/contracts'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'

/** An invalid request for a form of an organization. */
export type MalformedRequest = (at: { organizationId: string; formId: string }) => InjectOptions

const json = { 'content-type': 'application/json' }

const anyText = fc.string({ unit: anyCharacter, maxLength: 12 })

const anyJsonValue = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 3 })

/** Invalid values by type of field. */
const wrongValues: Record<string, fc.Arbitrary<unknown>> = {
  text: fc.oneof(fc.integer(), fc.boolean(), fc.array(fc.integer()), fc.dictionary(anyText, fc.integer())),
  object: fc.oneof(fc.integer(), fc.boolean(), anyText, fc.array(fc.integer())),
  list: fc.oneof(
    fc.integer(),
    fc.boolean(),
    anyText,
    fc.constantFrom({}, { length: 0 }, { 0: 'a' }),
    fc.constant([0]),
  ),
  count: fc.oneof(
    anyText,
    fc.boolean(),
    fc.constantFrom(-1, 0.5, 2 ** 53, 1e308, -1e-320, [], {}),
    fc.double({ max: -Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true }),
  ),
}

const kindOf = (value: unknown) => {
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' ? 'object' : typeof value === 'number' ? 'count' : 'text'
}

/** Names of members that no form has, including those of JavaScript's Object. */
const unknownName = fc.oneof(
  fc.constantFrom('toString', 'hasOwnProperty', 'valueOf', '', 'Name', 'name ', 'validateOnly', 'form'),
  anyText.map((text) => `${text}?`),
)

const known = Object.entries(FormDraft.parse({}))

/** One member that makes a form or patch invalid. */
export const wrongMemberArbitrary: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc
    .constantFrom(...known)
    .chain(([name, value]) => wrongValues[kindOf(value)]!.map((wrong) => ({ [name]: wrong }))),
  unknownName.map((name) => ({ [name]: null })),
  fc
    .tuple(
      fc.constantFrom('theme', 'i18n', 'marketplace', 'branding', 'leadScoring', 'voice', 'aiHandoff'),
      unknownName,
      anyJsonValue,
    )
    .map(([field, name, value]) => ({ [field]: { [name]: value } })),
  fc.constantFrom('name', 'type', 'defaultMode').map((name) => ({ [name]: null })),
  fc.constantFrom(
    {
      steps: [
        { type: 'text', key: 'a' },
        { type: 'text', key: 'a' },
      ],
    },
    { steps: [{ type: 'text', key: 'a b' }] },
    { steps: [{ key: 'a' }] },
    { steps: [null] },
    { defaultMode: 'voice', steps: [{ type: 'payment', key: 'p' }] },
    { i18n: { supportedLocales: ['en', 'EN'] } },
    { i18n: { translations: { 'no locale': {} } } },
    { backgrounds: [{ type: 'image', url: 'javascript:alert(1)' }] },
    { name: '\u2003' },
    { context: Array(1001).fill('') },
  ),
)

const isBrokenJson = (bytes: Uint8Array) => {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return false
  } catch {
    return true
  }
}

/** Malformed JSON: random bytes, and JSON with a part removed or inserted. */
const brokenJson = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc
      .string({ unit: fc.constantFrom(...'{}[]",:0-.eE\\u truefalsn/*\n\0\ufeff'), minLength: 1 })
      .map((text) => Buffer.from(text)),
    fc.tuple(fc.json(), fc.nat(), fc.uint8Array({ maxLength: 3 })).map(([text, at, noise]) => {
      const bytes = Buffer.from(`{"form":${text}}`)
      const index = at % bytes.length
      return Buffer.concat([bytes.subarray(0, index), noise, bytes.subarray(index + 1)])
    }),
  )
  .map((bytes) => Buffer.from(bytes))
  .filter(isBrokenJson)

/** Valid JSON that is no valid body. */
const unfitJson = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: 65, max: 20_000 }),
      fc.constantFrom<[string, string]>(['[', ']'], ['{"a":', '}']),
    )
    .map(
      ([depth, [open, close]]) =>
        `{"form":${open.repeat(depth)}${open === '[' ? '' : 'null'}${close.repeat(depth)}}`,
    ),
  fc
    .constantFrom('1e400', '-1e400', `1${'0'.repeat(400)}`)
    .map((number) => `{"form":{"steps":[{"n":${number}}]}}`),
  fc
    .constantFrom('__proto__', 'constructor', 'prototype', '\\u005f_proto__')
    .chain((name) =>
      fc.constantFrom(
        `{"${name}":{"validateOnly":false},"form":{}}`,
        `{"form":{"${name}":{"name":"polluted"}}}`,
        `{"form":{"theme":{"${name}":null}}}`,
        `{"form":{"steps":[{"type":"text","key":"a","more":[{"${name}":1}]}]}}`,
        `{"form":{"i18n":{"translations":{"${name}":{}}}}}`,
      ),
    ),
  fc
    .constantFrom('\\ud800', '\\udc00', 'a\\udbffb', '\\udc00\\ud800')
    .chain((half) =>
      fc.constantFrom(
        `{"form":{"name":"${half}"}}`,
        `{"form":{"${half}":1}}`,
        `{"form":{"context":["${half}"]}}`,
      ),
    ),
)

const writing = fc.constantFrom<{ method: 'POST' | 'PATCH'; of: 'forms' | 'form' }>(
  { method: 'POST', of: 'forms' },
  { method: 'PATCH', of: 'form' },
)

type Place = 'forms' | 'form' | 'deletedForms' | 'events'

const urlOf = (of: Place, { organizationId, formId }: { organizationId: string; formId: string }) =>
  `/organizations/${organizationId}/${of === 'form' ? `forms/${formId}` : of}`

const wrongBody = (payload: fc.Arbitrary<string | Buffer>): fc.Arbitrary<MalformedRequest> =>
  fc
    .tuple(fc.oneof(writing, fc.constant({ method: 'DELETE' as const, of: 'form' as const })), payload)
    .map(([{ method, of }, body]) => (at) => ({ method, url: urlOf(of, at), payload: body, headers: json }))

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Valid JSON other than a body of the route. */
const wrongValue = anyJsonValue
  .filter((value) => !isObject(value) || Object.keys(value).some((name) => name !== 'validateOnly'))
  .map((value) => JSON.stringify(value))

const wrongForm: fc.Arbitrary<MalformedRequest> = fc
  .tuple(writing, wrongMemberArbitrary)
  .map(([{ method, of }, form]) => (at) => ({ method, url: urlOf(of, at), payload: { form } }))

const wrongId: fc.Arbitrary<MalformedRequest> = fc
  .tuple(
    fc.constantFrom('requestId', 'formId'),
    fc
      .oneof(
        anyJsonValue,
        fc.uuid().map((id) => `{${id}}`),
      )
      .filter((value) => typeof value !== 'string' || !isUuid(value)),
  )
  .map(([name, value]) => (at) => ({
    method: 'POST',
    url: urlOf('forms', at),
    payload: { form: {}, [name]: value },
  }))

const wrongSwitch: fc.Arbitrary<MalformedRequest> = fc
  .tuple(writing, fc.constantFrom('true', 1, null, [], {}, 'false'))
  .map(([{ method, of }, validateOnly]) => (at) => ({
    method,
    url: urlOf(of, at),
    payload: { form: {}, validateOnly },
  }))

const anyRoute = fc.constantFrom<{
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  of: Place
  rest: string
}>(
  { method: 'POST', of: 'forms', rest: '' },
  { method: 'GET', of: 'forms', rest: '' },
  { method: 'GET', of: 'form', rest: '' },
  { method: 'PATCH', of: 'form', rest: '' },
  { method: 'DELETE', of: 'form', rest: '' },
  { method: 'GET', of: 'form', rest: '/revisions' },
  { method: 'GET', of: 'form', rest: '/revisions/live' },
  { method: 'GET', of: 'deletedForms', rest: '' },
  {
    method: 'POST',
    of: 'deletedForms',
    rest: '/11111111-1111-4111-8111-111111111111/undelete',
  },
  { method: 'GET', of: 'events', rest: '' },
  { method: 'GET', of: 'events', rest: '/stream' },
  { method: 'GET', of: 'events', rest: '/11111111-1111-4111-8111-111111111111' },
)

const parameters = ['filter', 'orderBy', 'pageSize', 'pageToken', 'skip', 'requestId', 'validateOnly']

const oddQuery = fc.oneof(
  fc
    .tuple(anyText, anyText)
    .filter(([name]) => name !== '' && !parameters.includes(name))
    .map((pair) => pair.map(encodeURIComponent).join('=')),
  fc.constantFrom(
    '__proto__=1',
    'constructor[prototype][a]=1',
    'a[]=1',
    '%=%',
    '=1',
    '&&a',
    'pageSize[]=1',
    '%ff',
    'filter%00=a',
  ),
  fc.constantFrom(...parameters).map((name) => `${name}=&${name}=`),
)

const oddQueryRequest: fc.Arbitrary<MalformedRequest> = fc
  .tuple(anyRoute, oddQuery)
  .map(([{ method, of, rest }, query]) => (at) => ({
    method,
    url: `${urlOf(of, at)}${rest}?${query}`,
    ...((method === 'POST' || method === 'PATCH') && { payload: { form: {} } }),
  }))

const oddListing: fc.Arbitrary<MalformedRequest> = fc
  .oneof(
    fc.tuple(
      fc.constantFrom('pageSize', 'skip'),
      fc.oneof(
        anyText.filter((text) => !/^[0-9]+$/.test(text)),
        fc.constantFrom('-1', '1e3', '0x10', '9'.repeat(400), '٣', '1.0', 'NaN', 'Infinity', ' 1'),
      ),
    ),
    fc.tuple(fc.constant('pageToken'), fc.oneof(anyText.filter(Boolean), fc.base64String({ minLength: 4 }))),
    fc.tuple(
      fc.constant('filter'),
      fc.oneof(
        anyText.map((text) => `${text} AND`),
        anyText.map((text) => `__proto__ = ${JSON.stringify(text)} AND`),
        fc.integer({ min: 1, max: 900 }).map((depth) => '('.repeat(depth)),
        fc.constantFrom(
          'constructor = 1',
          'replyCount > 1',
          'createTime > 2026-02-30T00:00:00Z',
          '"\\ud800"',
          `"${'x'.repeat(2000)}"`,
        ),
      ),
    ),
    fc.tuple(
      fc.constant('orderBy'),
      fc.oneof(
        anyText.map((text) => `__proto__${text}`),
        fc.constantFrom('toString', 'name,,', 'name; DROP TABLE forms'),
      ),
    ),
  )
  .chain(([name, value]) =>
    fc.constantFrom<Place>('forms', 'events').map((of) => (at) => ({
      url: `${urlOf(of, at)}?${name}=${encodeURIComponent(value.toWellFormed())}`,
    })),
  )

const oddSequence: fc.Arbitrary<MalformedRequest> = fc
  .tuple(
    fc.constantFrom('', '/stream'),
    fc.oneof(
      anyText.filter((text) => !/^[0-9]+$/.test(text)),
      fc.constantFrom('-1', '1e3', '0x10', '9007199254740992', '9'.repeat(400), '٣', '1.0', ' 1'),
    ),
  )
  .map(([rest, sequence]) => (at) => ({
    url: `${urlOf('events', at)}${rest}?afterSequence=${encodeURIComponent(sequence.toWellFormed())}`,
  }))

/** References that identify nothing: any path segment. */
const oddRef = fc
  .oneof(
    anyText
      .filter((ref) => !isUuid(ref) && !isPublicId(ref) && !['live', 'latest'].includes(ref))
      .map(encodeURIComponent),
    fc.uuid(),
    fc.constantFrom(
      '%',
      '%ff',
      '%00',
      '%2F',
      '%2e%2e',
      '..',
      '.',
      '',
      '__proto__',
      '%25',
      '*',
      "'--",
      '%F0%9F',
      'a;b',
      'a:b',
    ),
    fc.integer({ min: 100, max: 30_000 }).map((length) => 'x'.repeat(length)),
  )
  .map((ref) => ref.replaceAll('?', '%3F').replaceAll('#', '%23'))

const oddRefRequest: fc.Arbitrary<MalformedRequest> = fc
  .tuple(anyRoute, oddRef, fc.constantFrom('organization', 'form', 'revision', 'event'))
  .map(([{ method, of, rest }, ref, place]) => ({ organizationId, formId }) => {
    const at = { organizationId, formId }
    if (place === 'revision') return { url: `${urlOf('form', at)}/revisions/${ref}` }
    if (place === 'event') return { url: `${urlOf('events', at)}/${ref}` }
    const odd =
      place === 'form' ? urlOf('form', { ...at, formId: ref }) : urlOf(of, { ...at, organizationId: ref })
    return {
      method,
      url: `${odd}${rest}`,
      ...((method === 'POST' || method === 'PATCH') && { payload: { form: { name: 'odd' } } }),
    }
  })

/** Methods that a path does not support. */
const wrongMethod: fc.Arbitrary<MalformedRequest> = fc
  .constantFrom(
    { method: 'POST', of: 'form' },
    { method: 'DELETE', of: 'forms' },
    { method: 'PATCH', of: 'events' },
  )
  .map(({ method, of }) => (at) => ({ method, url: urlOf(of, at), payload: { form: { name: 'odd' } } }))

/** Header values that Node accepts. */
const headerText = fc
  .string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
  })
  .map((text) => text.trim())

const oddHeaders = fc.oneof<fc.Arbitrary<MalformedRequest>[]>(
  fc
    .tuple(
      fc.constantFrom('PATCH' as const, 'DELETE' as const),
      fc.oneof(
        headerText.filter((text) => text !== '*').map((text) => `x${text}`),
        fc.constantFrom(
          '""',
          'W/*',
          '"a',
          '"99999999999999999999-"',
          '"-1-"',
          '"1',
          '1-draft.0',
          ',',
          `"${'a'.repeat(9000)}"`,
        ),
        fc.integer({ min: 2 }).map((version) => `"${version}-draft.0"`),
      ),
    )
    .map(([method, ifMatch]) => (at) => ({
      method,
      url: urlOf('form', at),
      headers: { 'if-match': ifMatch },
      ...(method === 'PATCH' && { payload: { form: { name: 'odd' } } }),
    })),
  fc
    .tuple(
      writing,
      fc.oneof(
        headerText.filter((type) => !/^application\/json/i.test(type)),
        fc.constantFrom(
          'text/json',
          'application/jsonx',
          'application/merge-patch+json',
          'multipart/form-data',
          '*/*',
          '/',
        ),
      ),
    )
    .map(([{ method, of }, type]) => (at) => ({
      method,
      url: urlOf(of, at),
      payload: '{"form":{"name":"odd"}}',
      headers: { 'content-type': type },
    })),
  fc.tuple(writing, fc.constantFrom('1', '9999', '99999999999')).map(([{ method, of }, length]) => (at) => ({
    method,
    url: urlOf(of, at),
    payload: '{"form":{"name":"odd"}}',
    headers: { ...json, 'content-length': length },
  })),
)

/** Requests whose body is longer than the limit. */
export const tooLongRequestArbitrary: fc.Arbitrary<MalformedRequest> = writing.map(
  ({ method, of }) =>
    (at) => ({
      method,
      url: urlOf(of, at),
      payload: '{"form":{"name":"odd"}}',
      headers: { ...json, 'content-length': '99999999' },
    }),
)

/** Requests that are invalid whatever the store contains. */
export const malformedRequestArbitrary: fc.Arbitrary<MalformedRequest> = fc.oneof(
  wrongBody(brokenJson),
  wrongBody(unfitJson),
  wrongBody(wrongValue),
  wrongForm,
  wrongId,
  wrongSwitch,
  oddQueryRequest,
  oddListing,
  oddSequence,
  oddRefRequest,
  wrongMethod,
  oddHeaders,
)
