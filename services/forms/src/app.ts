import type { PageTokens } from '@fms/aip'
import type { FormsStore } from '@fms/forms-store'
import {
  type App,
  createApp,
  largeBodyBytes,
  organizationNotFound,
  requireGateway,
  requireIdentity,
  requireWriteAccess,
} from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { DraftWriter } from './drafts/draft-writer.ts'
import { createForm } from './routes/create-form.ts'
import { deleteForm } from './routes/delete-form.ts'
import { getForm } from './routes/get-form.ts'
import { getFormOwner } from './routes/get-form-owner.ts'
import { getRevision } from './routes/get-revision.ts'
import { listForms } from './routes/list-forms.ts'
import { listRevisions } from './routes/list-revisions.ts'
import { updateForm } from './routes/update-form.ts'

/** What the routes work with; the clock comes in, so that tests can set it. */
export interface FormsDeps {
  forms: FormsStore
  drafts: DraftWriter
  publicFormBaseUrl: string
  pageTokens: PageTokens
  now: () => Date
}

export interface FormsAppOptions extends Omit<FormsDeps, 'drafts'> {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
  /** Bodies and drafts over this are checked in worker threads. */
  largeLength?: number
}

/** The forms service: everything of a form but its publishing. */
export const createFormsApp = ({
  logger,
  internalSecrets,
  largeLength = largeBodyBytes,
  ...options
}: FormsAppOptions): App => {
  const drafts = new DraftWriter({ largeLength })
  const deps: FormsDeps = { ...options, drafts }
  const app = createApp({
    logger,
    maxRequests: 1_000,
    largeBodyBytes: largeLength,
    ready: () => deps.forms.ping(),
  })
  app.addHook('onClose', () => drafts.close())
  app.register(async (guarded) => {
    guarded.register(requireIdentity, { secrets: internalSecrets })
    guarded.addHook('onRequest', ({ identity, params }, _, done) => {
      const { organizationId } = params as { organizationId?: string }
      const isForeign = organizationId !== undefined && organizationId !== identity.organizationId
      done(isForeign ? organizationNotFound(organizationId) : undefined)
    })
    guarded.register(resources, deps)
  })
  app.register(async (forTheGateway) => {
    forTheGateway.register(requireGateway, { secrets: internalSecrets })
    forTheGateway.register(getFormOwner, deps)
  })
  return app
}

const resources = async (app: FastifyInstance, deps: FormsDeps) => {
  app.addHook('onRequest', ({ identity, method }, _reply, done) => {
    if (method !== 'GET' && method !== 'HEAD') requireWriteAccess(identity)
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
