import { randomUUID } from 'node:crypto'
import { createPageTokens } from '@fms/aip'
import { ErrorBody, formPath, identityHeader, type Role } from '@fms/contracts'
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

/** The service on SQLite in memory, and requests as the gateway would pass them on. */
export interface FormsService extends AsyncDisposable {
  app: App
  forms: FormsStore
  organizationId: string
  /** Sends a request as a member of `organizationId`, an editor unless told otherwise. */
  send(
    request: InjectOptions,
    identity?: { role?: Role; readOnly?: boolean; organizationId?: string },
  ): Promise<LightMyRequestResponse>
  /** What `send` says of the caller. */
  headersOf(identity?: { role?: Role; readOnly?: boolean; organizationId?: string }): Record<string, string>
  /** What a test begins with. */
  given: {
    form(fields?: object, organizationId?: string): Promise<StoredForm>
    /** What a publish does to the store: a snapshot of the draft, live. */
    revision(form: StoredForm): Promise<StoredRevision>
    /** A reply, as an event would tell of it. */
    reply(form: StoredForm): Promise<void>
  }
  /** Every form of `organizationId`, by creation: what a request that is refused must leave alone. */
  everyForm(): Promise<StoredForm[]>
  /** Sets the clock. */
  clock: { now: Date }
}

export const startForms = async ({
  logger = pino({ level: 'silent' }),
  largeLength,
  quota,
  storeUrl = 'sqlite::memory:',
}: {
  logger?: Logger
  /** Bodies and drafts over this are checked in worker threads. */
  largeLength?: number
  quota?: Quota
  storeUrl?: string
} = {}): Promise<FormsService> => {
  const forms = await openFormsStore(storeUrl, quota && { quota })
  const clock = { now: new Date('2026-11-20T09:30:00.000Z') }
  const sign = createIdentitySigner(secret)
  const organizationId = randomUUID()
  const userId = randomUUID()
  const app = createFormsApp({
    logger,
    internalSecrets: [secret],
    ...(largeLength !== undefined && { largeLength }),
    forms,
    publicFormBaseUrl: testBaseUrl,
    pageTokens: createPageTokens([secret]),
    now: () => clock.now,
  })

  const headersOf: FormsService['headersOf'] = (identity = {}) => ({
    [identityHeader]: sign({ userId, organizationId, role: 'editor', readOnly: false, ...identity }),
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
        const commandId = randomUUID()
        await forms.publish({ organizationId, formRef: formId }, commandId, (current) => ({
          revisionId: randomUUID(),
          createTime: clock.now,
          formJson: formToJson({ ...current, live: true }, testBaseUrl),
        }))
        return (await forms.findRevisionOfCommand(organizationId, commandId))!
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

/** Where the gateway passes requests for this form on to. */
export const urlOf = (form: StoredForm): string => `/${formPath(form)}`

/** What a refusal says, in short, once its body is found to be an error as AIP-193 has it. */
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
