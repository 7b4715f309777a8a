import { apiError } from '@fms/aip'
import { isUuid, NoQuery } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { EventParams } from '../form-params.ts'

/** Read one event of an organization's log by its id (AIP-131). */
export const getEvent: AddRoute<FormsDeps> = (app, { forms }) => {
  app.get(
    '/organizations/:organizationId/events/:eventId',
    { schema: { params: EventParams, querystring: NoQuery } },
    async ({ params: { organizationId, eventId } }) => {
      const event = isUuid(eventId) ? await forms.events.get(organizationId, eventId) : undefined
      if (!event)
        throw apiError('EVENT_NOT_FOUND', { event: `organizations/${organizationId}/events/${eventId}` })
      return event
    },
  )
}
