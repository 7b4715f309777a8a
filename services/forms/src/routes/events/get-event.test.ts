import { randomUUID } from 'node:crypto'
import { FormEvent } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { givenEvents } from '../../testing/given-events.ts'
import { type FormsService, refusalOf, startForms } from '../../testing/start-forms.ts'

const get = (service: FormsService, id: string, organizationId = service.organizationId) =>
  service.send({ url: `/organizations/${organizationId}/events/${id}` }, { role: 'viewer', organizationId })

describe('GET /organizations/{organization}/events/{event}', () => {
  it('returns the event as the list has it, by its id in any letter case', async () => {
    await using service = await startForms()
    await givenEvents(service, 2)
    const { events } = (await service.send({ url: `/organizations/${service.organizationId}/events` })).json()

    for (const event of events) {
      expect((await get(service, event.id)).json()).toEqual(FormEvent.parse(event))
      expect((await get(service, event.id.toUpperCase())).json()).toEqual(event)
    }
  })

  it.each([randomUUID(), 'x', '1', '0000000000000001', 'Stream', '%00'])('is a 404 for %s', async (id) => {
    await using service = await startForms()
    await givenEvents(service, 1)

    const event = `organizations/${service.organizationId}/events/${decodeURIComponent(id)}`
    expect(refusalOf(await get(service, id))).toMatchObject({
      code: 404,
      reason: 'EVENT_NOT_FOUND',
      metadata: { event },
    })
  })

  it('is a 404 for an event of another organization', async () => {
    await using service = await startForms()
    await givenEvents(service, 1)
    const [event] = await service.forms.events.read({ organizationId: service.organizationId, limit: 1 })

    expect(refusalOf(await get(service, event!.id, randomUUID()))).toMatchObject({
      reason: 'EVENT_NOT_FOUND',
    })
  })

  it('takes no query', async () => {
    await using service = await startForms()

    expect(refusalOf(await get(service, `${randomUUID()}?filter=`))).toMatchObject({
      code: 400,
      fields: ['filter'],
    })
  })
})
