import { invalidPageToken, type Position, readListQuery } from '@fms/aip'
import { formatSequence, ListEventsQuery } from '@fms/contracts'
import { eventFilterFields } from '@fms/forms-store'
import { type AddRoute, flowOf } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { type EventPosition, readEventsPage } from '../../events/read-events-page.ts'
import { OrganizationParams } from '../form-params.ts'
import { sendPage } from '../send-json.ts'

/** List the events of an organization (AIP-132), oldest first unless `orderBy` says otherwise. */
export const listEvents: AddRoute<FormsDeps> = (app, { forms, eventReader, pageTokens }) => {
  app.get(
    '/organizations/:organizationId/events',
    { schema: { params: OrganizationParams } },
    async ({ params: { organizationId }, query, identity }, reply) => {
      const { after, orderBy, nextPageToken, ...list } = readListQuery(query, {
        schema: ListEventsQuery,
        filterFields: eventFilterFields,
        orderFields: ['sequence'],
        scope: ['events', organizationId],
        pageTokens,
      })
      const start = startOf(query as ListEventsQuery, after)
      const descending = orderBy[0]?.descending ?? false
      const pageQuery = { organizationId, ...list, ...start, descending }
      const page = await readEventsPage(forms.events, eventReader, pageQuery, flowOf(identity))
      const end = {
        nextPageToken: nextPageToken(page.next && positionOf(page.next, start.afterSequence)),
        oldestSequence: formatSequence(page.range.oldestSequence),
        lastSequence: formatSequence(page.range.lastSequence),
      }
      return sendPage(reply, end, ['events', page.events.map((event) => JSON.stringify(event))])
    },
  )
}

/** Stands in the page token of a list without `afterSequence`. */
const none = -1

const positionOf = ({ sequence, skip }: EventPosition, afterSequence = none): Position => [
  sequence,
  skip,
  afterSequence,
]

/** The start of a page: a token has it. @throws {ApiError} INVALID_PAGE_TOKEN if `afterSequence` differs. */
const startOf = (query: ListEventsQuery, position: Position | undefined) => {
  const given = query.afterSequence === undefined ? undefined : Number(query.afterSequence)
  if (!position) return { afterSequence: given }
  const [sequence, skip, afterSequence] = position as [number, number, number]
  if (given !== undefined && given !== afterSequence) throw invalidPageToken()
  return { after: { sequence, skip }, afterSequence: afterSequence === none ? undefined : afterSequence }
}
