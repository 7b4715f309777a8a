import {
  type App,
  createApp,
  flowOf,
  requireAccess,
  requireGateway,
  requireIdentity,
  smallBodyBytes,
} from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import type { FormsDeps } from './deps.ts'
import { DraftWriter } from './drafts/draft-writer.ts'
import { EventReader } from './events/event-reader.ts'
import { EventTails } from './events/event-tails.ts'
import { respondToReplays } from './requests/respond-to-replays.ts'
import { checkForm } from './routes/check-form.ts'
import { createForm } from './routes/create-form.ts'
import { deleteForm } from './routes/delete-form.ts'
import { listDeletedForms } from './routes/deleted-forms/list-deleted-forms.ts'
import { purgeForm } from './routes/deleted-forms/purge-form.ts'
import { undeleteForm } from './routes/deleted-forms/undelete-form.ts'
import { getEvent } from './routes/events/get-event.ts'
import { listEvents } from './routes/events/list-events.ts'
import { streamEvents } from './routes/events/stream-events.ts'
import { getChanges } from './routes/get-changes.ts'
import { getForm } from './routes/get-form.ts'
import { getFormOrganization } from './routes/get-form-organization.ts'
import { getPublicForm } from './routes/get-public-form.ts'
import { listForms } from './routes/list-forms.ts'
import { getRevision } from './routes/revisions/get-revision.ts'
import { listRevisions } from './routes/revisions/list-revisions.ts'
import { rollbackForm } from './routes/revisions/rollback-form.ts'
import { unpublishForm } from './routes/unpublish-form.ts'
import { updateForm } from './routes/update-form.ts'

export interface FormsAppOptions extends Omit<FormsDeps, 'drafts' | 'eventReader' | 'eventTails'> {
  logger: FastifyBaseLogger
  internalSecrets: readonly string[]
  /** Worker threads check bodies and drafts of more characters than this. */
  inlineLimit?: number
}

/** The forms service: every operation on forms, revisions and events except publish. */
export const createFormsApp = ({
  logger,
  internalSecrets,
  inlineLimit = smallBodyBytes,
  ...options
}: FormsAppOptions): App => {
  const { events } = options.forms
  const drafts = new DraftWriter(inlineLimit)
  const deps: FormsDeps = {
    ...options,
    drafts,
    eventReader: new EventReader(events),
    eventTails: new EventTails(events),
  }
  const app = createApp({
    logger,
    isBehindGateway: true,
    parseShallowly: (body, { identity }) =>
      body.length > inlineLimit ? drafts.run('parse', body, flowOf(identity)) : undefined,
    ready: () => deps.forms.ping(),
  })
  app.addHook('onClose', () => drafts.close())
  app.register(async (authenticated) => {
    requireIdentity(authenticated, internalSecrets)
    requireAccess(authenticated)
    addResourceRoutes(authenticated, deps)
  })
  app.register(async (internal) => {
    requireGateway(internal, internalSecrets)
    getFormOrganization(internal, deps)
    getPublicForm(internal, deps)
  })
  return app
}

const addResourceRoutes = (app: App, deps: FormsDeps): void => {
  respondToReplays(app, deps)
  for (const addRoute of [
    createForm,
    checkForm,
    getForm,
    listForms,
    updateForm,
    deleteForm,
    listDeletedForms,
    undeleteForm,
    purgeForm,
    unpublishForm,
    listRevisions,
    getRevision,
    rollbackForm,
    listEvents,
    getEvent,
    streamEvents,
    getChanges,
  ])
    addRoute(app, deps)
}
