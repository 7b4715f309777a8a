import { randomUUID } from 'node:crypto'
import { createPageTokens } from '@fms/aip'
import { ErrorBody, formPath, type Identity, identityHeader } from '@fms/contracts'
import {
  type FormsStore,
  formToJson,
  openFormsStore,
  type Quota,
  type StoredForm,
  type StoredRevision,
} from '@fms/forms-store'
import { type App, createIdentitySigner } from '@fms/service-kit'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import { createFormsApp } from '../app.ts'
import { newForm } from '../domain/new-form.ts'
import { newDraft } from '../domain/write-draft.ts'

export const secret = 'a secret of the tests, long enough'

export const testBaseUrl = 'https://forms.example/f'

/** The service with SQLite in memory, and requests as the gateway forwards them. */
export interface FormsService extends AsyncDisposable {
  app: App
  forms: FormsStore
  organizationId: string
  /** Sends a request as a member of `organizationId`, by default an editor. */
  send(request: InjectOptions, identity?: Partial<Identity>): Promise<LightMyRequestResponse>
  /** The headers that `send` adds for the caller. */
  headersOf(identity?: Partial<Identity>): Record<string, string>
  /** Creates test data in the store. */
  given: {
    form(fields?: object, organizationId?: string): Promise<StoredForm>
    /** Publishes the form. */
    revision(form: StoredForm): Promise<StoredRevision>
    /** Counts a reply to the form. */
    reply(form: StoredForm): Promise<void>
  }
  /** All forms of `organizationId`, oldest first. */
  everyForm(): Promise<StoredForm[]>
  /** Sets the clock. */
  clock: { now: Date }
}

export const startForms = async ({
  logger = pino({ level: 'silent' }),
  inlineLimit,
  quota,
  storeUrl = 'sqlite::memory:',
  deletedFormsDays = 0,
}: {
  logger?: Logger
  /** Worker threads check bodies and drafts of more characters than this. */
  inlineLimit?: number
  quota?: Quota
  storeUrl?: string
  /** How long a deleted form can be restored, in days. */
  deletedFormsDays?: number
} = {}): Promise<FormsService> => {
  const forms = await openFormsStore(storeUrl, { deletedFormsDays, ...(quota && { quota }) })
  const clock = { now: new Date('2026-11-20T09:30:00.000Z') }
  const sign = createIdentitySigner(secret)
  const organizationId = randomUUID()
  const userId = randomUUID()
  const key = { id: randomUUID(), prefix: 'abcd1234' }
  const app = createFormsApp({
    logger,
    internalSecrets: [secret],
    ...(inlineLimit !== undefined && { inlineLimit }),
    forms,
    publicFormBaseUrl: testBaseUrl,
    pageTokens: createPageTokens([secret]),
    now: () => clock.now,
  })

  const headersOf: FormsService['headersOf'] = (identity = {}) => ({
    [identityHeader]: sign({ userId, organizationId, role: 'editor', readOnly: false, key, ...identity }),
  })

  return {
    app,
    forms,
    organizationId,
    clock,
    headersOf,
    send: (request, identity) =>
      app.inject({ ...request, headers: { ...request.headers, ...headersOf(identity) } }),
    given: {
      form: async (fields = {}, owner = organizationId) => {
        const form = newForm(owner, newDraft({ ...fields }), clock.now)
        await forms.create(form)
        return form
      },
      revision: async ({ organizationId, formId }) => {
        const ref = { organizationId, formRef: formId }
        await forms.publish(ref, randomUUID(), (current) => ({
          revisionId: randomUUID(),
          createTime: clock.now,
          publisher: '',
          note: '',
          formJson: formToJson({ ...current, live: true }, testBaseUrl),
        }))
        return (await forms.getRevision(ref, 'live'))!.revision
      },
      reply: async (form) => {
        await forms.recordReplies({ ...form, replyIds: [randomUUID()] })
      },
    },
    everyForm: async () => {
      const orderBy = [{ field: 'createTime' as const, descending: false }]
      const { forms: all } = await forms.list({ organizationId, orderBy, limit: 10_000, skip: 0 })
      return all
    },
    [Symbol.asyncDispose]: async () => {
      await app.close()
      await forms.close()
    },
  }
}

/** The path of this form while it is deleted. */
export const deletedUrlOf = ({ organizationId, formId }: StoredForm): string =>
  `/organizations/${organizationId}/deletedForms/${formId}`

/** The path to which the gateway forwards requests for this form. */
export const urlOf = (form: StoredForm): string => `/${formPath(form)}`

/** A summary of an error response. Throws if its body is not an AIP-193 error. */
export const refusalOf = (response: Awaited<ReturnType<App['inject']>>) => {
  const type = response.headers['content-type']
  if (type !== 'application/json; charset=utf-8') throw new Error(`a ${response.statusCode} of type ${type}`)
  const { error } = ErrorBody.parse(response.json())
  const [info, badRequest] = error.details
  if (info?.['@type'] !== 'type.googleapis.com/google.rpc.ErrorInfo') throw new Error('no ErrorInfo')
  if (error.code !== response.statusCode) throw new Error(`code ${error.code} in a ${response.statusCode}`)
  const violations =
    badRequest?.['@type'] === 'type.googleapis.com/google.rpc.BadRequest' ? badRequest.fieldViolations : []
  return {
    code: error.code,
    status: error.status,
    reason: info.reason,
    message: error.message,
    metadata: info.metadata,
    violations,
    fields: violations.map(({ field }) => field),
  }
}
