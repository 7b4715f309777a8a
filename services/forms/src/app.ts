import type { PageTokens } from '@fms/aip'
import type { FormsStore } from '@fms/forms-store'
import { type App, createApp, organizationNotFound, refuseReaders, requireIdentity } from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createForm } from './routes/create-form.ts'
import { deleteForm } from './routes/delete-form.ts'
import { getForm } from './routes/get-form.ts'
import { getRevision } from './routes/get-revision.ts'
import { listForms } from './routes/list-forms.ts'
import { listRevisions } from './routes/list-revisions.ts'
import { updateForm } from './routes/update-form.ts'

/** What the routes work with; the clock comes in, so that tests can set it. */
export interface FormsDeps {
  forms: FormsStore
  publicFormBaseUrl: string
  pageTokens: PageTokens
  now: () => Date
}

export interface FormsAppOptions extends FormsDeps {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
}

/** The forms service: everything of a form but its publishing. */
export const createFormsApp = ({ logger, internalSecrets, ...deps }: FormsAppOptions): App => {
  const app = createApp({ logger, maxRequests: 1_000, ready: () => deps.forms.ping() })
  app.register(async (guarded) => {
    guarded.register(requireIdentity, { secrets: internalSecrets })
    guarded.addHook('onRequest', ({ identity, params }, _, done) => {
      const { organizationId } = params as { organizationId?: string }
      const isForeign = organizationId !== undefined && organizationId !== identity.organizationId
      done(isForeign ? organizationNotFound(organizationId) : undefined)
    })
    guarded.register(resources, deps)
  })
  return app
}

const resources = async (app: FastifyInstance, deps: FormsDeps) => {
  app.addHook('onRequest', ({ identity, method }, _reply, done) => {
    if (method !== 'GET' && method !== 'HEAD') refuseReaders(identity)
    done()
  })
  app.register(createForm, deps)
  app.register(getForm, deps)
  app.register(listForms, deps)
  app.register(updateForm, deps)
  app.register(deleteForm, deps)
  app.register(listRevisions, deps)
  app.register(getRevision, deps)
}
