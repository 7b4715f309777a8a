import { randomUUID } from 'node:crypto'
import { createPageTokens } from '@fms/aip'
import { identityHeader, type Role } from '@fms/contracts'
import { type FormsStore, openFormsStore, type StoredForm } from '@fms/forms-store'
import { type App, createIdentitySigner } from '@fms/service-kit'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { createFormsApp } from './app.ts'
import { newForm } from './domain/new-form.ts'
import { newDraft } from './domain/write-draft.ts'

const secret = 'a secret of the tests, long enough'

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
  /** What a test begins with. */
  given: { form(fields?: object): Promise<StoredForm> }
  /** Sets the clock. */
  clock: { now: Date }
}

export const startForms = async (): Promise<FormsService> => {
  const forms = await openFormsStore('sqlite::memory:')
  const clock = { now: new Date('2026-11-20T09:30:00.000Z') }
  const sign = createIdentitySigner(secret)
  const organizationId = randomUUID()
  const userId = randomUUID()
  const app = createFormsApp({
    logger: pino({ level: 'silent' }),
    internalSecrets: [secret],
    forms,
    publicFormBaseUrl: testBaseUrl,
    pageTokens: createPageTokens([secret]),
    now: () => clock.now,
  })

  return {
    app,
    forms,
    organizationId,
    clock,
    send: (request, identity = {}) =>
      app.inject({
        ...request,
        headers: {
          ...request.headers,
          [identityHeader]: sign({ userId, organizationId, role: 'editor', readOnly: false, ...identity }),
        },
      }),
    given: {
      form: async (fields = {}) => {
        const form = newForm(organizationId, newDraft({ ...fields }), clock.now)
        await forms.create(form)
        return form
      },
    },
    [Symbol.asyncDispose]: async () => {
      await app.close()
      await forms.close()
    },
  }
}
