import { randomUUID } from 'node:crypto'
import { openDirectoryStore } from '@fms/directory-store'
import { describe, expect, it, vi } from 'vitest'
import { sharedSystem } from './shared-system.ts'
import { type Account, type ApiResponse, publishable } from './system.ts'

const system = await sharedSystem()

const eventsOf = ({ slug }: Account) => `/organizations/${slug}/events`

/** Requests the log until it has this many events: on MongoDB they appear within a second. */
const untilLogged = (account: Account, count: number): Promise<ApiResponse> =>
  vi.waitUntil(
    async () => {
      const page = await system.call(account, 'GET', `${eventsOf(account)}?pageSize=1000`)
      return Number(page.body.lastSequence) >= count && page
    },
    { timeout: 20_000, interval: 50 },
  )

const keyOf = async ({ userId }: Account) => {
  await using directory = await openDirectoryStore(system.directoryStoreUrl)
  const { keyId, prefix } = (await directory.listKeys()).find((key) => key.userId === userId)!
  return { id: keyId, prefix }
}

const reasonOf = ({ status, body }: ApiResponse) => [status, body.error?.details[0].reason]

describe('each kind of change through the gateway', () => {
  it('has an event with its user, key and request id', async () => {
    const owner = await system.account({ role: 'owner' })
    const second = await system.account({ in: owner })
    const call = (account: Account, method: string, path: string, body?: unknown) =>
      system.call(account, method, path, body, { 'x-request-id': `${method}-${account.userId}` })
    const created = await call(owner, 'POST', owner.forms, { form: publishable({ name: 'First' }) })
    const form = `${owner.forms}/${created.body.publicId}`
    const updated = await call(second, 'PATCH', form, { form: { name: 'Second' } })
    const published = await call(owner, 'POST', `${form}/publish`)
    await call(second, 'DELETE', form)

    const { body } = await untilLogged(owner, 4)

    const actors = new Map<Account, object>()
    for (const account of [owner, second])
      actors.set(account, { user: `users/${account.userId}`, key: await keyOf(account) })
    expect(body.events).toMatchObject([
      {
        type: 'form.created',
        source: `/v2/organizations/${owner.organizationId}`,
        data: { name: 'First', etag: created.headers.get('etag'), previousEtag: '' },
      },
      {
        type: 'form.updated',
        data: {
          name: 'Second',
          etag: updated.headers.get('etag'),
          previousEtag: created.headers.get('etag'),
          fields: ['name'],
        },
      },
      { type: 'form.published', data: { etag: published.headers.get('etag'), number: 1 } },
      { type: 'form.deleted', data: { etag: '', previousEtag: published.headers.get('etag') } },
    ])
    const makers = [owner, second, owner, second]
    const methods = ['POST', 'PATCH', 'POST', 'DELETE']
    for (const [index, { subject, sequence, data }] of body.events.entries()) {
      expect([subject, data.form, data.publicId]).toEqual([
        created.body.path,
        created.body.path,
        created.body.publicId,
      ])
      expect(sequence).toBe(`${index + 1}`.padStart(16, '0'))
      expect(data.actor).toEqual(actors.get(makers[index]!))
      expect(data.httpRequestId).toBe(`${methods[index]}-${makers[index]!.userId}`)
    }
    for (const event of body.events)
      expect((await system.call(second, 'GET', `${eventsOf(owner)}/${event.id}`)).body).toEqual(event)
  })

  it('is listed by user and form', async () => {
    const account = await system.account()
    const other = await system.account({ in: account })
    const [first, second] = [
      await system.call(account, 'POST', account.forms, { form: {} }),
      await system.call(other, 'POST', account.forms, { form: {} }),
    ]
    await untilLogged(account, 2)
    const find = async (filter: string) => {
      const { body } = await system.call(
        account,
        'GET',
        `${eventsOf(account)}?filter=${encodeURIComponent(filter)}`,
      )
      return body.events.map(({ subject }: { subject: string }) => subject)
    }

    expect(await find(`user = ${account.userId}`)).toEqual([first.body.path])
    expect(await find(`form = ${second.body.path.split('/').at(-1)}`)).toEqual([second.body.path])
  })
})

describe('the log of an organization', () => {
  it('is read by viewers and read-only keys, and by no member of another organization', async () => {
    const account = await system.account()
    await system.call(account, 'POST', account.forms, { form: {} })
    const { body } = await untilLogged(account, 1)
    const event = `${eventsOf(account)}/${body.events[0].id}`
    const viewer = await system.account({ in: account, role: 'viewer', readOnly: true })
    const stranger = await system.account()

    for (const path of [eventsOf(account), event])
      expect((await system.call(viewer, 'GET', path)).status).toBe(200)
    for (const path of [eventsOf(account), event, `${eventsOf(account)}/stream`])
      expect(reasonOf(await system.call(stranger, 'GET', path))).toEqual([404, 'ORGANIZATION_NOT_FOUND'])
    const foreign = `${eventsOf(stranger)}/${body.events[0].id}`
    expect(reasonOf(await system.call(stranger, 'GET', foreign))).toEqual([404, 'EVENT_NOT_FOUND'])
    expect(reasonOf(await system.call(account, 'GET', `${eventsOf(account)}/${randomUUID()}`))).toEqual([
      404,
      'EVENT_NOT_FOUND',
    ])
    for (const method of ['POST', 'PATCH', 'DELETE'])
      expect(reasonOf(await system.call(account, method, event, {}))).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it('yields each event once to a reader by afterSequence while others write', async () => {
    const account = await system.account()
    const writers = 4
    const perWriter = 15
    const write = async () => {
      for (let form = 0; form < perWriter; form++)
        await system.call(account, 'POST', account.forms, { form: {} })
    }
    const writing = Promise.all(Array.from({ length: writers }, write))
    const found: string[] = []
    const deadline = performance.now() + 60_000
    for (let pageSize = 1; found.length < writers * perWriter; pageSize = (pageSize % 7) + 1) {
      const query = `?afterSequence=${found.at(-1) ?? 0}&pageSize=${pageSize}`
      const { body } = await system.call(account, 'GET', `${eventsOf(account)}${query}`)
      found.push(...body.events.map(({ sequence }: { sequence: string }) => sequence))
      expect(performance.now()).toBeLessThan(deadline)
    }
    await writing

    const { body } = await untilLogged(account, writers * perWriter)
    expect(found).toEqual(body.events.map(({ sequence }: { sequence: string }) => sequence))
    expect(found.map(Number)).toEqual(Array.from({ length: writers * perWriter }, (_, index) => index + 1))
    const forms = await system.call(account, 'GET', `${account.forms}?pageSize=1000`)
    expect(body.events.map(({ subject }: { subject: string }) => subject).sort()).toEqual(
      forms.body.forms.map(({ path }: { path: string }) => path).sort(),
    )
  })
})
