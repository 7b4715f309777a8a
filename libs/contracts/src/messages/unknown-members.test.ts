import { describe, expect, it } from 'vitest'
import { AuthorizeRequest, AuthorizeResponse } from '../internal/authorize.ts'
import { Identity, ServiceIdentity } from '../internal/identity.ts'
import { FormPublished, GatewayClock, PublishForm } from './publish-form.ts'
import { ReplyRecorded } from './reply-recorded.ts'
import { RequestsCounted } from './requests-counted.ts'

const uuid = '11111111-1111-4111-8111-111111111111'

const publishForm = {
  commandId: uuid,
  organizationId: uuid,
  formRef: 'k3TzQ81xYb',
  userId: uuid,
  validateOnly: false,
  ifMatch: ['"1"'],
  timeoutMs: 10_000,
}

const refused = {
  outcome: 'refused' as const,
  problem: {
    status: 'FAILED_PRECONDITION' as const,
    reason: 'FORM_NOT_PUBLISHABLE',
    message: 'Change the draft, then publish it.',
    http: 400,
    fieldViolations: [{ field: 'form.steps', description: 'is empty' }],
    preconditionViolations: [{ type: 'STEPS', subject: 'form.steps', description: 'is empty' }],
    retryAfterSeconds: 1,
  },
}

const published = { outcome: 'published' as const, etag: '"1-live.0"' }
const formJson = '{"name":"Intake"}'

/** Adds an unknown member to each object, as a later release may. */
const addUnknownMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(addUnknownMembers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, addUnknownMembers(member)])
  return { ...Object.fromEntries(members), ofALaterRelease: { deep: [1] } }
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

describe('a message with unknown members, of a later release', () => {
  it.each([
    [PublishForm, publishForm],
    [GatewayClock, { nowMs: 12.5 }],
    [ReplyRecorded, { replyId: uuid, formId: uuid, organizationId: uuid }],
    [RequestsCounted, { gateway: 'g', counts: [[uuid, 3, 60_000]] }],
    [FormPublished, refused],
  ])('is decoded without them: %#', ({ decode }, known) => {
    expect(decode(bytesOf(addUnknownMembers(known)))).toEqual(known)
  })

  it('is decoded without them when the form follows on a second line', () => {
    const bytes = new TextEncoder().encode(`${JSON.stringify(addUnknownMembers(published))}\n${formJson}`)

    expect(FormPublished.decode(bytes)).toEqual({ ...published, formJson })
  })
})

describe('an HTTP message between services with unknown members, of a later release', () => {
  it.each([
    ['claims of a user', Identity, { userId: uuid, organizationId: uuid, role: 'editor', readOnly: false }],
    ['claims of the gateway', ServiceIdentity, { service: 'gateway' }],
    ['an authorize request', AuthorizeRequest, { keyHash: 'hash', organizationRef: 'acme' }],
    [
      'an authorize response',
      AuthorizeResponse,
      {
        userId: uuid,
        keyId: uuid,
        readOnly: false,
        organization: { organizationId: uuid, role: 'viewer' },
      },
    ],
  ])('is parsed without them: %s', (_, schema, known) => {
    expect(schema.parse(addUnknownMembers(known))).toEqual(known)
  })
})
