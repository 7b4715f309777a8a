import { randomUUID } from 'node:crypto'
import { FormEvent, formatSequence, ListEventsResponse } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { givenEvents, pruneTo, sequencesOf } from '../../testing/given-events.ts'
import { type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

type Query = Record<string, string | number>

const urlWith = ({ organizationId }: FormsService, query: Query = {}) =>
  `/organizations/${organizationId}/events?${new URLSearchParams(query as Record<string, string>)}`

const list = async (service: FormsService, query: Query = {}) => {
  const response = await service.send({ url: urlWith(service, query) })
  expect(response.statusCode, response.body).toBe(200)
  return ListEventsResponse.parse(response.json())
}

const refused = async (service: FormsService, query: Query) =>
  refusalOf(await service.send({ url: urlWith(service, query) }))

/** The sequences of all pages, and the number of pages. */
const sweep = async (service: FormsService, query: Query = {}) => {
  const sequences: number[] = []
  let pageToken = ''
  let pages = 0
  do {
    const page = await list(service, { ...query, pageToken })
    sequences.push(...sequencesOf(page.events))
    pageToken = page.nextPageToken
    pages++
  } while (pageToken !== '')
  return { sequences, pages }
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('GET /organizations/{organization}/events', () => {
  it('is empty without events', async () => {
    await using service = await startForms()
    await service.given.form({}, randomUUID())

    expect(await list(service)).toEqual({
      events: [],
      nextPageToken: '',
      oldestSequence: '0000000000000001',
      lastSequence: '0000000000000000',
    })
  })

  it('lists each change with its actor, oldest first', async () => {
    await using service = await startForms()
    const key = { id: randomUUID(), prefix: 'abcdefgh' }
    const forms = `/organizations/${service.organizationId}/forms`
    const headers = { 'x-request-id': 'r-1' }
    const as = { userId: randomUUID(), key }
    const created = await service.send({ method: 'POST', url: forms, payload: { form: {} }, headers }, as)
    const url = `/${created.json().path}`
    await service.send({ method: 'PATCH', url, payload: { form: { name: 'Other' } }, headers }, as)
    await service.send({ method: 'DELETE', url, headers }, as)

    const { events, lastSequence } = await list(service)

    expect(events.map(({ type }) => type)).toEqual(['form.created', 'form.updated', 'form.deleted'])
    expect(sequencesOf(events)).toEqual([1, 2, 3])
    expect(lastSequence).toBe('0000000000000003')
    for (const event of events) {
      expect(FormEvent.parse(event)).toEqual(event)
      expect(event.data).toMatchObject({
        form: created.json().path,
        actor: { user: `users/${as.userId}`, key },
        httpRequestId: 'r-1',
      })
    }
    expect(events[1]!.data).toMatchObject({
      name: 'Other',
      fields: ['name'],
      previousEtag: created.headers.etag,
    })
  })

  it('has no events of dry runs, refused requests and patches that change nothing', async () => {
    await using service = await startForms()
    const form = await service.given.form({ name: 'Same' })
    const url = urlOf(form)
    const forms = `/organizations/${service.organizationId}/forms`

    await service.send({ method: 'POST', url: forms, payload: { form: {}, validateOnly: true } })
    await service.send({ method: 'POST', url: forms, payload: { form: { name: null } } })
    await service.send({ method: 'PATCH', url, payload: { form: { name: 'Same' } } })
    await service.send({ method: 'PATCH', url, payload: { form: { name: 'X' }, validateOnly: true } })
    await service.send({ method: 'DELETE', url: `${url}?validateOnly=true` })
    await service.send({ method: 'DELETE', url, headers: { 'if-match': '"9-"' } })
    await service.given.reply(form)

    expect((await list(service)).lastSequence).toBe('0000000000000001')
  })

  it('is read by every role, for the organization of the identity token only', async () => {
    await using service = await startForms()
    await givenEvents(service, 1)
    const url = urlWith(service)

    for (const role of ['viewer', 'editor', 'owner'] as const) {
      expect((await service.send({ url }, { role, readOnly: true })).json().events).toHaveLength(1)
    }
    const foreign = refusalOf(await service.send({ url }, { organizationId: randomUUID() }))
    expect([foreign.code, foreign.reason]).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
  })

  it('responds to HEAD as to GET, without a body', async () => {
    await using service = await startForms()

    const response = await service.send({ method: 'HEAD', url: urlWith(service) })

    expect([response.statusCode, response.body]).toEqual([200, ''])
  })
})

describe('a page of events', () => {
  it('has 10 events by default, at most 1,000, and skips some', async () => {
    await using service = await startForms()
    await givenEvents(service, 12)

    expect(sequencesOf((await list(service)).events)).toEqual(oneTo(10))
    expect(sequencesOf((await list(service, { pageSize: 5000 })).events)).toEqual(oneTo(12))
    expect(sequencesOf((await list(service, { pageSize: 3, skip: 4 })).events)).toEqual([5, 6, 7])
    expect(sequencesOf((await list(service, { skip: 12 })).events)).toEqual([])
    expect(
      sequencesOf((await list(service, { skip: 2 ** 31 - 1, orderBy: 'sequence desc' })).events),
    ).toEqual([])
  })

  it('begins after afterSequence', async () => {
    await using service = await startForms()
    await givenEvents(service, 4)

    expect(sequencesOf((await list(service, { afterSequence: 0 })).events)).toEqual([1, 2, 3, 4])
    expect(sequencesOf((await list(service, { afterSequence: '0000000000000002' })).events)).toEqual([3, 4])
    expect(await list(service, { afterSequence: 4 })).toMatchObject({ events: [], nextPageToken: '' })
    for (const orderBy of ['sequence', 'sequence desc']) {
      expect(await refused(service, { afterSequence: 5, orderBy })).toMatchObject({
        status: 'OUT_OF_RANGE',
        reason: 'AFTER_LAST_EVENT',
        metadata: { lastSequence: '0000000000000004' },
      })
    }
    const descending = await list(service, { afterSequence: 2, orderBy: 'sequence desc' })
    expect(sequencesOf(descending.events)).toEqual([4, 3])
  })

  it.each(['', 'sequence', 'sequence desc'])('is followed by the others, in order %j', async (orderBy) => {
    await using service = await startForms()
    await givenEvents(service, 7)
    const expected = orderBy.endsWith('desc') ? oneTo(7).reverse() : oneTo(7)

    for (const [pageSize, pages] of [
      [1, 7],
      [3, 3],
      [7, 1],
      [10, 1],
    ] as const) {
      expect(await sweep(service, { pageSize, orderBy })).toEqual({ sequences: expected, pages })
    }
    const later = expected.filter((sequence) => sequence > 3)
    expect((await sweep(service, { pageSize: 3, orderBy, afterSequence: 3 })).sequences).toEqual(later)
  })

  it('keeps its afterSequence in the token', async () => {
    await using service = await startForms()
    await givenEvents(service, 6)
    const query = { afterSequence: 2, orderBy: 'sequence desc', pageSize: 3 }
    const pageToken = (await list(service, query)).nextPageToken

    const next = await list(service, { orderBy: query.orderBy, pageToken })
    expect(sequencesOf(next.events)).toEqual([3])
    for (const other of [{ ...query, afterSequence: 1 }, { pageToken }, { ...query, filter: 'type = x' }]) {
      expect(await refused(service, { ...other, pageToken })).toMatchObject({ reason: 'INVALID_PAGE_TOKEN' })
    }
    expect(await refused(service, { ...query, afterSequence: 1, pageToken })).toMatchObject({
      message: expect.stringContaining('afterSequence the same'),
    })
  })

  it.each(['sequence', 'sequence desc'])(
    'is not after the end of a log from a backup, in order %j',
    async (orderBy) => {
      await using service = await startForms()
      await givenEvents(service, 7)
      const { nextPageToken: pageToken } = await list(service, { orderBy, pageSize: 3 })
      const range = { oldestSequence: 1, lastSequence: 2 }
      vi.spyOn(service.forms.events, 'range').mockResolvedValue(range)

      expect(await refused(service, { orderBy, pageToken })).toMatchObject({ reason: 'AFTER_LAST_EVENT' })
    },
  )

  it('rejects the token of another organization', async () => {
    await using service = await startForms()
    await givenEvents(service, 2)
    const { nextPageToken } = await list(service, { pageSize: 1 })
    const organizationId = randomUUID()

    const url = `/organizations/${organizationId}/events?pageToken=${nextPageToken}`
    expect(refusalOf(await service.send({ url }, { organizationId })).reason).toBe('INVALID_PAGE_TOKEN')
  })

  it('has no more than what was in the log at its lastSequence', async () => {
    await using service = await startForms()
    await givenEvents(service, 2)
    const read = service.forms.events.read.bind(service.forms.events)
    vi.spyOn(service.forms.events, 'read').mockImplementationOnce(async (query) => {
      await service.given.form()
      return read(query)
    })

    const page = await list(service)

    expect(sequencesOf(page.events)).toEqual([1, 2])
    expect(page).toMatchObject({ nextPageToken: '', lastSequence: '0000000000000002' })
  })

  it.each<[string, Query, string[]]>([
    ['afterSequence=-1', { afterSequence: -1 }, ['afterSequence']],
    ['afterSequence=1.5', { afterSequence: 1.5 }, ['afterSequence']],
    ['afterSequence=', { afterSequence: '' }, ['afterSequence']],
    ['afterSequence above 2^53-1', { afterSequence: '9007199254740992' }, ['afterSequence']],
    ['an unknown parameter', { aftersequence: 1 }, ['aftersequence']],
    [
      'everything',
      { afterSequence: 'x', pageSize: -1, orderBy: 'time', filter: '(' },
      ['afterSequence', 'filter', 'orderBy', 'pageSize'],
    ],
  ])('is a 400 with %s', async (_, query, fields) => {
    await using service = await startForms()

    const refusal = await refused(service, query)

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(refusal.fields.sort()).toEqual(fields)
  })

  it('is a 400 when afterSequence is given twice', async () => {
    await using service = await startForms()
    const response = await service.send({ url: `${urlWith(service)}afterSequence=1&afterSequence=1` })

    expect(refusalOf(response)).toMatchObject({ code: 400, fields: ['afterSequence'] })
  })
})

describe('reading by afterSequence', () => {
  it('yields each event once, in pages of any size, while others write', async () => {
    await using service = await startForms()
    const anyRead = fc.record({
      steps: fc.array(fc.record({ writes: fc.nat(4), pageSize: fc.integer({ min: 1, max: 6 }) }), {
        maxLength: 12,
      }),
      byToken: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(anyRead, async ({ steps, byToken }) => {
        const { lastSequence: start } = await list(service, { pageSize: 1 })
        let [afterSequence, pageToken] = [start, '']
        const found: number[] = []
        const step = async (pageSize: number) => {
          const page = await list(service, { pageSize, afterSequence, ...(byToken && { pageToken }) })
          found.push(...sequencesOf(page.events))
          pageToken = page.nextPageToken
          if (!byToken || pageToken === '') afterSequence = page.events.at(-1)?.sequence ?? afterSequence
          return page
        }
        for (const { writes, pageSize } of steps) {
          await Promise.all([step(pageSize), ...Array.from({ length: writes }, () => service.given.form())])
        }
        for (;;) if ((await step(3)).events.length === 0) break

        const { lastSequence } = await list(service, { pageSize: 1 })
        const expected = oneTo(Number(lastSequence)).slice(Number(start))
        expect(found).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a filter of events', () => {
  const given = async () => {
    const service = await startForms()
    const [first, second] = await givenEvents(service, 2)
    const userId = randomUUID()
    const url = `/organizations/${service.organizationId}/forms/${first}`
    await service.send({ method: 'PATCH', url, payload: { form: { name: 'Other' } } }, { userId })
    await service.send({ method: 'DELETE', url }, { userId })
    return { service, first: first!, second: second!, userId }
  }

  it('finds by type, form, user and time', async () => {
    const { service, first, second, userId } = await given()
    await using _ = service
    const [, , update] = (await list(service)).events
    const rows: [string, number[]][] = [
      ['type = form.created', [1, 2]],
      ['type != "form.created"', [3, 4]],
      ['type = form.*', [1, 2, 3, 4]],
      ['type = "*ed" type != *.c*', [3, 4]],
      ['type = form.unknown', []],
      [`form = ${first}`, [1, 3, 4]],
      [`form = "${first.toUpperCase()}" AND type = form.updated`, [3]],
      [`form = ${first} form = ${second}`, []],
      [`form != ${first}`, [2]],
      [`form = ${first} OR form = ${second}`, [1, 2, 3, 4]],
      [`-form = ${first}`, [2]],
      [`user = ${userId}`, [3, 4]],
      [`user != ${userId}`, [1, 2]],
      [`time < ${update!.time}`, [1, 2]],
      [`time = ${update!.time}`, [3]],
      [`(type = form.created OR user = ${userId}) AND form = ${first}`, [1, 3, 4]],
      ['  ', [1, 2, 3, 4]],
    ]
    for (const [filter, expected] of rows) {
      expect([filter, (await sweep(service, { filter, pageSize: 2 })).sequences]).toEqual([filter, expected])
      const descending = await sweep(service, { filter, pageSize: 1, orderBy: 'sequence desc' })
      expect([filter, descending.sequences]).toEqual([filter, expected.toReversed()])
      const skipping = await list(service, { filter, skip: 1 })
      expect([filter, sequencesOf(skipping.events)]).toEqual([filter, expected.slice(1)])
    }
  })

  it.each([
    ['form = Ab3dE6gH9j', 'a UUID'],
    ['user = "x*"', 'a UUID'],
    ['type:form', '= or != after type'],
    ['type < form', '= or != after type'],
    ['name = x', 'one of the fields type, form, user, time'],
    ['sequence > 1', 'one of the fields type, form, user, time'],
    ['__proto__ = 1', 'one of the fields type, form, user, time'],
    ['created', 'a comparison of one of the fields type, form, user, time'],
  ])('is a 400 if it is %s', async (filter, expected) => {
    await using service = await startForms()

    expect(await refused(service, { filter })).toMatchObject({
      reason: 'INVALID_FILTER',
      metadata: { expected },
    })
  })

  it('rejects 61 conditions', async () => {
    await using service = await startForms()
    const filter = Array(61).fill('type=a').join(' ')

    expect(await refused(service, { filter })).toMatchObject({ reason: 'FILTER_TOO_COMPLEX' })
  })

  it('reads only the events of the form that it requires', async () => {
    const { service, first } = await given()
    await using _ = service
    const read = vi.spyOn(service.forms.events, 'read')

    await list(service, { filter: `(type = form.* AND form = ${first}) AND time > 2020-01-01T00:00:00Z` })

    expect(read.mock.calls.map(([query]) => query.formId)).toEqual([first])
  })
})

describe('a filter that finds little in a long log', () => {
  it('ends the page after 2,000 events, keeps the rest of skip, and reaches the end', async () => {
    await using service = await startForms()
    const { organizationId } = service
    const rare = [1, 1_999, 2_000, 2_001, 4_100]
    const eventAt = (sequence: number): FormEvent => ({
      specversion: '1.0',
      id: randomUUID(),
      source: `/v2/organizations/${organizationId}`,
      type: rare.includes(sequence) ? 'form.deleted' : 'form.created',
      subject: `organizations/${organizationId}/forms/${organizationId}`,
      time: '2026-11-20T09:30:00.000Z',
      datacontenttype: 'application/json',
      sequence: formatSequence(sequence),
      data: {
        form: '',
        publicId: '',
        name: '',
        etag: '',
        previousEtag: '',
        actor: { operator: true },
        httpRequestId: '',
      },
    })
    for (const sequence of oneTo(4_200)) await service.forms.events.importEvent(eventAt(sequence))
    const filter = 'type = form.deleted'

    expect(await sweep(service, { filter })).toEqual({ sequences: rare, pages: 3 })
    expect(await sweep(service, { filter, orderBy: 'sequence desc' })).toEqual({
      sequences: rare.toReversed(),
      pages: 3,
    })
    expect(await sweep(service, { filter: 'type = form.updated' })).toEqual({ sequences: [], pages: 3 })

    const first = await list(service, { filter, skip: 4 })
    expect(first.events).toEqual([])
    const second = await list(service, { filter, pageToken: first.nextPageToken })
    expect(second.events).toEqual([])
    const third = await list(service, { filter, pageToken: second.nextPageToken })
    expect(sequencesOf(third.events)).toEqual([4_100])
  })
})

describe('after retention has removed events', () => {
  const given = async () => {
    const service = await startForms()
    await givenEvents(service, 9)
    return service
  }

  it('a list without afterSequence begins at the oldest event', async () => {
    await using service = await given()
    await pruneTo(service, 4)

    const page = await list(service)
    expect(sequencesOf(page.events)).toEqual([5, 6, 7, 8, 9])
    expect(page.oldestSequence).toBe('0000000000000005')
    expect((await sweep(service, { orderBy: 'sequence desc', pageSize: 2 })).sequences).toEqual([
      9, 8, 7, 6, 5,
    ])
    expect(sequencesOf((await list(service, { afterSequence: 4 })).events)).toEqual([5, 6, 7, 8, 9])
  })

  it.each([0, 1, 3])('a list after %i is a 400', async (afterSequence) => {
    await using service = await given()
    await pruneTo(service, 4)

    const others: Query[] = [{}, { orderBy: 'sequence desc' }, { filter: 'type = form.*' }, { skip: 5 }]
    for (const more of others) {
      expect(await refused(service, { afterSequence, ...more })).toMatchObject({
        code: 400,
        status: 'OUT_OF_RANGE',
        reason: 'EVENTS_PRUNED',
        metadata: { oldestSequence: '0000000000000005', lastSequence: '0000000000000009' },
      })
    }
  })

  it('a page token for removed events is a 400, in both directions', async () => {
    await using service = await given()
    const ascending = await list(service, { pageSize: 2 })
    const orderBy = 'sequence desc'
    const descending = await list(service, { pageSize: 6, orderBy })
    await pruneTo(service, 4)

    expect(await refused(service, { pageToken: ascending.nextPageToken })).toMatchObject({
      reason: 'EVENTS_PRUNED',
    })
    expect(await refused(service, { pageToken: descending.nextPageToken, orderBy })).toMatchObject({
      reason: 'EVENTS_PRUNED',
    })
  })

  it('a page does not skip events that are removed while it is read', async () => {
    await using service = await given()
    const read = service.forms.events.read.bind(service.forms.events)
    const spy = vi.spyOn(service.forms.events, 'read').mockImplementationOnce(async (query) => {
      spy.mockRestore()
      await pruneTo(service, 4)
      return read(query)
    })

    expect(await refused(service, { afterSequence: 1 })).toMatchObject({ reason: 'EVENTS_PRUNED' })
  })
})
