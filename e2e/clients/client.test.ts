import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Client,
  type ClientOptions,
  createClient,
  type FormEvent,
  FormsApiError,
  isReason,
} from '../../libs/client/src/index.ts'
import { publishable, type System, startSystem } from '../system.ts'

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system[Symbol.asyncDispose]())

/** A client with a new account in a new organization, by default as an editor. */
const newClient = async (options: Partial<ClientOptions> = {}, role: 'editor' | 'owner' = 'editor') => {
  const account = await system.account({ role })
  const client = createClient({ baseUrl: system.baseUrl, apiKey: account.apiKey, ...options })
  return { ...account, client, organization: account.slug }
}

const errorOf = (call: Promise<unknown>): Promise<FormsApiError> =>
  call.then(
    () => expect.unreachable(),
    (error) => error,
  )

describe('the client', () => {
  it('runs the lifecycle of a form', async () => {
    const { client, organization } = await newClient()

    const created = await client.forms.create(organization, publishable())
    const ref = created.form.publicId
    expect(await client.forms.get(organization, ref)).toEqual(created)
    expect(created.etag).toMatch(/^".+"$/)
    const unpublished = await errorOf(client.revisions.live(organization, ref))
    expect(isReason(unpublished, 'REVISION_NOT_FOUND')).toBe(true)

    const updated = await client.forms.update(
      organization,
      ref,
      { name: 'Edited' },
      { ifMatch: created.etag },
    )
    expect(updated.form).toMatchObject({ name: 'Edited', live: false })
    const late = await errorOf(client.forms.update(organization, ref, {}, { ifMatch: created.etag }))
    expect(late).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag: updated.etag } })

    const published = await client.forms.publish(organization, ref, { ifMatch: updated.etag })
    expect(published.form).toEqual({ ...updated.form, live: true })
    const live = await client.revisions.live(organization, ref)
    expect(live).toMatchObject({ alternateIds: ['live'], form: { name: 'Edited' } })
    expect(await client.revisions.get(organization, ref, live.path)).toEqual(live)
    expect(await Array.fromAsync(client.revisions.list(organization, ref))).toEqual([live])

    await client.forms.delete(organization, ref, { ifMatch: published.etag })
    expect(await errorOf(client.forms.get(organization, ref))).toMatchObject({ reason: 'FORM_NOT_FOUND' })
  })

  it('restores a deleted form as it was, and purges it', async () => {
    const { client, organization, userId } = await newClient({}, 'owner')
    const { publicId } = (await client.forms.create(organization, publishable())).form
    await client.forms.publish(organization, publicId)
    await client.forms.update(organization, publicId, { name: 'Edited' })
    const read = async () => [
      await client.forms.get(organization, publicId),
      await Array.fromAsync(client.revisions.list(organization, publicId)),
    ]
    const before = await read()
    await client.forms.delete(organization, publicId)

    const [deleted] = await Array.fromAsync(client.deletedForms.list(organization))
    expect(deleted).toMatchObject({ publicId, name: 'Edited', deleter: `users/${userId}` })
    expect(await client.deletedForms.undelete(organization, deleted!.path)).toEqual(before[0])
    expect(await read()).toEqual(before)
    expect(await Array.fromAsync(client.deletedForms.list(organization))).toEqual([])

    await client.forms.delete(organization, publicId)
    await client.deletedForms.purge(organization, publicId)
    expect(await errorOf(client.deletedForms.undelete(organization, publicId))).toMatchObject({
      reason: 'DELETED_FORM_NOT_FOUND',
    })
  })

  it('creates a form with an id of its own, once', async () => {
    const { client, organization, organizationId } = await newClient()
    const [formId, requestId] = [crypto.randomUUID(), crypto.randomUUID()]

    const created = await client.forms.create(organization, { name: 'Tea' }, { formId, requestId })
    const repeated = await client.forms.create(organization, { name: 'Tea' }, { formId, requestId })

    expect(created.form.path).toBe(`organizations/${organizationId}/forms/${formId}`)
    expect(repeated).toEqual(created)
    const taken = await errorOf(client.forms.create(organization, {}, { formId }))
    expect(taken).toMatchObject({ reason: 'FORM_ID_TAKEN', metadata: { deleted: 'false' } })
    const reused = await errorOf(client.forms.create(organization, {}, { requestId }))
    expect(reused).toMatchObject({ code: 409, reason: 'REQUEST_ID_REUSED' })
  })

  it('lists all forms page by page, filtered and sorted', async () => {
    const { client, organization } = await newClient()
    const names = Array.from({ length: 25 }, (_, index) => `Form ${String(index).padStart(2, '0')}`)
    await Promise.all(names.map((name) => client.forms.create(organization, { name })))
    await client.forms.create(organization, { name: 'Another' })
    const query = { filter: 'name = "Form *"', orderBy: 'name', pageSize: 10 } as const

    const listed = await Array.fromAsync(client.forms.list(organization, query), ({ name }) => name)
    const pages = await Array.fromAsync(client.forms.list(organization, { ...query, skip: 3 }).pages())

    expect(listed).toEqual(names)
    expect(pages.map(({ items }) => items.length)).toEqual([10, 10, 2])
    expect(pages.map(({ totalSize }) => totalSize)).toEqual([25, 25, 25])
  })

  it('reads the organizations of the user', async () => {
    const { client, organization, organizationId } = await newClient()

    const one = await client.organizations.get(organization)

    expect(one.path).toBe(`organizations/${organizationId}`)
    expect(await client.organizations.get(one.path)).toEqual(one)
    expect(await client.organizations.all()).toEqual([one])
    expect(await Array.fromAsync(client.organizations.list())).toEqual([one])
  })

  it('stores nothing in a dry run, and returns no usable ETag', async () => {
    const { client, organization } = await newClient()
    const { form, etag } = await client.forms.create(organization, publishable())
    const dry = { validateOnly: true }

    const created = await client.forms.create(organization, {}, dry)
    const updated = await client.forms.update(organization, form.publicId, { name: 'Other' }, dry)
    await client.forms.publish(organization, form.publicId, dry)
    await client.forms.delete(organization, form.publicId, dry)

    expect([created.etag, updated.etag]).toEqual(['', ''])
    expect(await client.forms.get(organization, form.publicId)).toEqual({ form, etag })
    const write = client.forms.update(
      organization,
      form.publicId,
      { name: 'Other' },
      { ifMatch: updated.etag },
    )
    expect(await errorOf(write)).toMatchObject({ reason: 'INVALID_IF_MATCH' })
  })

  it('throws errors with reason and field', async () => {
    const { client, organization } = await newClient()
    const stranger = createClient({ baseUrl: system.baseUrl, apiKey: 'fms_unknown' })
    const { form } = await client.forms.create(organization, {})

    const invalid = await errorOf(client.forms.create(organization, { maxFollowUpQuestions: -1 }))
    const unready = await errorOf(client.forms.publish(organization, form.publicId))
    const foreign = await errorOf(stranger.forms.list(organization).pages().next())

    expect(invalid).toBeInstanceOf(FormsApiError)
    expect(invalid).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
    expect(invalid.fieldViolations).toEqual([expect.objectContaining({ field: 'form.maxFollowUpQuestions' })])
    expect(invalid.requestId).toBeTruthy()
    expect(unready).toMatchObject({ status: 'FAILED_PRECONDITION', reason: 'DRAFT_NOT_PUBLISHABLE' })
    expect(unready.preconditionViolations).toEqual([expect.objectContaining({ type: 'QUESTIONS' })])
    expect(foreign).toMatchObject({ code: 401, reason: 'API_KEY_INVALID' })
  })
})

describe('concurrent edits', () => {
  it('all succeed, each based on the result of the previous one', async () => {
    const { client, organization } = await newClient()
    const { form } = await client.forms.create(organization, {})
    const keys = Array.from({ length: 8 }, (_, index) => `step-${index}`)

    await Promise.all(
      keys.map((key) =>
        client.forms.edit(organization, form.publicId, ({ steps }) => ({
          steps: [...steps, { type: 'text', key }],
        })),
      ),
    )

    const { steps } = (await client.forms.get(organization, form.publicId)).form
    expect(steps.map(({ key }) => key).sort()).toEqual(keys)
  })
})

describe('after a lost response', () => {
  /** A fetch that drops the first response to a request with this method. */
  const losing = (method: string) => {
    let isLost = false
    return async (url: string, init: RequestInit) => {
      const response = await fetch(url, init)
      if (isLost || init.method !== method) return response
      isLost = true
      await response.body?.cancel()
      throw new TypeError('lost')
    }
  }

  it('a publish is retried and creates one revision', async () => {
    const { client: reliable, organization, apiKey } = await newClient()
    const { form } = await reliable.forms.create(organization, publishable())
    const client = createClient({ baseUrl: system.baseUrl, apiKey, fetch: losing('POST') })

    expect((await client.forms.publish(organization, form.publicId)).form.live).toBe(true)

    expect(await Array.fromAsync(client.revisions.list(organization, form.publicId))).toHaveLength(1)
  })

  it('a create is retried and creates one form', async () => {
    const { client, organization } = await newClient({ fetch: losing('POST') })

    const { form } = await client.forms.create(organization, { name: 'Once' })

    expect(await Array.fromAsync(client.forms.list(organization))).toEqual([form])
  })

  it('an edit is retried and applied once', async () => {
    const { client, organization } = await newClient({ fetch: losing('PATCH') })
    const { form } = await client.forms.create(organization, { name: 'Tea' })

    const edited = await client.forms.edit(organization, form.publicId, ({ name }) => ({ name: `${name}!` }))

    expect(edited).toMatchObject({ form: { name: 'Tea!' } })
    expect(await client.forms.get(organization, form.publicId)).toEqual(edited)
  })

  it('an unpublish, a rollback and an undelete are retried and executed once', async () => {
    const { client, organization, apiKey } = await newClient()
    const { publicId } = (await client.forms.create(organization, publishable({ name: 'Tea' }))).form
    await client.forms.publish(organization, publicId)
    await client.forms.update(organization, publicId, { name: 'Coffee' })
    const once = () => createClient({ baseUrl: system.baseUrl, apiKey, fetch: losing('POST') })

    const rolledBack = await once().revisions.rollback(organization, publicId, 'live', {
      ifMatch: (await client.forms.get(organization, publicId)).etag,
    })
    const unpublished = await once().forms.unpublish(organization, publicId)
    await client.forms.delete(organization, publicId)
    const restored = await once().deletedForms.undelete(organization, publicId)

    expect(rolledBack.form.name).toBe('Tea')
    expect(unpublished.form.live).toBe(false)
    expect(restored).toEqual(unpublished)
  })

  it('an update without ifMatch and a delete are retried', async () => {
    const { client, organization } = await newClient({ fetch: losing('PATCH') })
    const { form } = await client.forms.create(organization, {})
    expect((await client.forms.update(organization, form.publicId, { name: 'Tea' })).form.name).toBe('Tea')
    const { client: another, organization: elsewhere } = await newClient({ fetch: losing('DELETE') })
    const { form: second } = await another.forms.create(elsewhere, {})

    await another.forms.delete(elsewhere, second.publicId)

    expect(await Array.fromAsync(another.forms.list(elsewhere))).toEqual([])
  })
})

describe('events', () => {
  /** The given number of forms, each created and published. */
  const change = async (client: Client, organization: string, forms: number) => {
    for (let form = 0; form < forms; form++) {
      const { publicId } = (await client.forms.create(organization, publishable())).form
      await client.forms.publish(organization, publicId)
    }
  }

  const sequencesOf = (events: FormEvent[]) => events.map(({ sequence }) => Number(sequence))

  /** The events of a watch until it has this many. */
  const take = async (events: AsyncIterable<FormEvent>, count: number) => {
    const taken: FormEvent[] = []
    for await (const event of events) if (taken.push(event) === count) break
    return taken
  }

  it('can be listed page by page, filtered, and read by id', async () => {
    const { client, organization, userId } = await newClient()
    await change(client, organization, 3)
    await take(client.events.watch(organization, { afterSequence: 0 }), 6)

    const all = await Array.fromAsync(client.events.list(organization, { pageSize: 4 }))
    const published = client.events.list(organization, {
      filter: 'type = "*.published"',
      orderBy: 'sequence desc',
    })
    const [page] = await Array.fromAsync(
      client.events.list(organization, { afterSequence: all[4]!.sequence }).pages(),
    )

    expect(sequencesOf(all)).toEqual([1, 2, 3, 4, 5, 6])
    expect(all[1]).toMatchObject({ type: 'form.published', data: { actor: { user: `users/${userId}` } } })
    expect(sequencesOf(await Array.fromAsync(published))).toEqual([6, 4, 2])
    expect(page).toMatchObject({ items: [all[5]], lastSequence: all[5]!.sequence })
    expect(await client.events.get(organization, all[2]!.id)).toEqual(all[2])
    expect(await errorOf(client.events.get(organization, userId))).toMatchObject({
      reason: 'EVENT_NOT_FOUND',
    })
  })

  it('are watched without gaps and repeats while the service restarts', async () => {
    const { client, organization } = await newClient({ maxRetries: 10 })
    const all = take(client.events.watch(organization, { afterSequence: 0 }), 8)
    const filter = 'type = "form.published"'
    const published = take(client.events.watch(organization, { afterSequence: 0, filter }), 4)

    await change(client, organization, 2)
    await system.end('forms', 'SIGKILL')
    await system.start('forms')
    await change(client, organization, 2)

    expect(sequencesOf(await all)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(sequencesOf(await published)).toEqual([2, 4, 6, 8])
  })

  it('are watched from now on by default', async () => {
    const { client, organization } = await newClient()
    await change(client, organization, 1)
    await take(client.events.watch(organization, { afterSequence: 0 }), 2)
    const next = take(client.events.watch(organization), 1)
    let isTaken = false
    next.then(() => (isTaken = true))

    // The watch reads its position some time after it has begun.
    while (!isTaken) await change(client, organization, 1)

    expect(sequencesOf(await next)[0]).toBeGreaterThan(2)
  })

  it('end with an error when the organization is unknown', async () => {
    const { client } = await newClient()
    const watch = client.events.watch('nobody')[Symbol.asyncIterator]()

    expect(await errorOf(watch.next())).toMatchObject({ reason: 'ORGANIZATION_NOT_FOUND' })
  })
})

describe('while a service is down', () => {
  it('retries a create and a read until the service is up', async () => {
    const statuses: number[] = []
    let back: Promise<void> | undefined
    const { client, organization } = await newClient({
      maxRetries: 10,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        statuses.push(response.status)
        if (response.status === 503) back ??= system.start('forms')
        return response
      },
    })
    const { form } = await client.forms.create(organization, { name: 'Tea' })
    await system.end('forms', 'SIGKILL')

    const [created, read] = await Promise.all([
      client.forms.create(organization, { name: 'Coffee' }),
      client.forms.get(organization, form.publicId),
    ])

    await back
    expect(read.form).toEqual(form)
    const names = await Array.fromAsync(client.forms.list(organization), ({ name }) => name)
    expect(names.sort()).toEqual([created.form.name, 'Tea'])
    expect(statuses.slice(0, 3)).toEqual([200, 503, 503])
  })
})
