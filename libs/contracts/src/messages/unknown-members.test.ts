import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as contracts from '../index.ts'
import { type defineMessage, FormPublished } from '../index.ts'

const uuid = '11111111-1111-4111-8111-111111111111'

/**
 * Every NATS message, as release 0.2.0 sends it, by the name of its contract. A later release may send more members,
 * and still has to accept these: never add a member here.
 */
const messages: Record<string, unknown> = {
  PublishForm: {
    commandId: uuid,
    organizationId: uuid,
    formRef: 'k3TzQ81xYb',
    userId: uuid,
    key: { id: uuid, prefix: 'abcd1234' },
    validateOnly: false,
    ifMatch: ['"1"'],
  },
  FormPublished: {
    outcome: 'refused',
    problem: {
      status: 'FAILED_PRECONDITION',
      reason: 'FORM_NOT_PUBLISHABLE',
      message: 'Change the draft, then publish it.',
      http: 400,
      fieldViolations: [{ field: 'form.steps', description: 'is empty' }],
      preconditionViolations: [{ type: 'STEPS', subject: 'form.steps', description: 'is empty' }],
      retryAfterSeconds: 1,
    },
  },
  GatewayClock: { nowMs: 12.5 },
  ReplyRecorded: { replyId: uuid, formId: uuid, organizationId: uuid },
  EventsRecorded: {},
  RequestsCounted: { gateway: 'g', counts: [[uuid, 3, 60_000]] },
}

/** Every HTTP body and token between services, as release 0.2.0 sends it, by the name of its schema. */
const internals: Record<string, unknown> = {
  Identity: {
    userId: uuid,
    organizationId: uuid,
    role: 'editor',
    readOnly: false,
    key: { id: uuid, prefix: 'abcd1234' },
  },
  ServiceIdentity: { service: 'gateway' },
  AuthorizeRequest: { keyHash: 'hash', organizationRef: 'acme' },
  AuthorizeResponse: {
    userId: uuid,
    keyId: uuid,
    keyPrefix: 'abcd1234',
    readOnly: false,
    organization: { organizationId: uuid, role: 'viewer' },
  },
  FormOrganization: { organizationId: uuid },
}

const all: Record<string, unknown> = contracts
const isMessage = (value: unknown) =>
  typeof value === 'object' && value !== null && 'decode' in value && !(value instanceof z.ZodType)
const decoderOf = (name: string) => (all[name] as ReturnType<typeof defineMessage>).decode
const schemaOf = (name: string) => all[name] as z.ZodType

/** Adds an unknown member to each object, as a later release may. */
const addUnknownMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(addUnknownMembers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, addUnknownMembers(member)])
  return { ...Object.fromEntries(members), ofALaterRelease: { deep: [1] } }
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

describe('these tests', () => {
  it('have an example of every message', () => {
    const names = Object.keys(all).filter((name) => isMessage(all[name]))

    expect(Object.keys(messages).sort()).toEqual(names.sort())
  })

  it('have an example of every schema in internal/', async () => {
    const folder = join(import.meta.dirname, '../internal')
    const files = globSync('*.ts', { cwd: folder })
    const modules = await Promise.all(files.map((file) => import(join(folder, file))))
    const exported = modules.flatMap((each) => Object.entries(each))
    const names = exported.filter(([, value]) => value instanceof z.ZodType).map(([name]) => name)

    expect(Object.keys(internals).sort()).toEqual(names.sort())
  })
})

describe('a message', () => {
  it.each(Object.entries(messages))('of release 0.2.0 is decoded: %s', (name, message) => {
    expect(decoderOf(name)(bytesOf(message))).toMatchObject(message as object)
  })

  it.each(Object.entries(messages))(
    'of a later release is decoded without unknown members: %s',
    (name, message) => {
      const decode = decoderOf(name)

      expect(decode(bytesOf(addUnknownMembers(message)))).toEqual(decode(bytesOf(message)))
    },
  )

  it('of a later release is decoded without unknown members where the form follows on a second line', () => {
    const published = { outcome: 'published', etag: '"1-live.0"' }
    const formJson = '{"name":"Intake"}'
    const bytes = new TextEncoder().encode(`${JSON.stringify(addUnknownMembers(published))}\n${formJson}`)

    expect(FormPublished.decode(bytes)).toEqual({ ...published, formJson })
  })
})

describe('an HTTP body or token between services', () => {
  it.each(Object.entries(internals))('of release 0.2.0 is parsed: %s', (name, body) => {
    expect(schemaOf(name).parse(body)).toMatchObject(body as object)
  })

  it.each(Object.entries(internals))(
    'of a later release is parsed without unknown members: %s',
    (name, body) => {
      const schema = schemaOf(name)

      expect(schema.parse(addUnknownMembers(body))).toEqual(schema.parse(body))
    },
  )
})
