import { openDirectoryStore } from '@fms/directory-store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../libs/client/src/index.ts'
import { publishable, type System, startSystem } from './system.ts'

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system[Symbol.asyncDispose]())

/** A form of an account of its own, published unless told otherwise, and where its public id alone leads. */
const givenForm = async () => {
  const account = await system.account()
  const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
  const anywhere = `/organizations/-/forms/${form.publicId}`
  const canonical = `/${form.path}`
  return { account, form, anywhere, canonical }
}

describe('a form by its public id alone', () => {
  it('is read as by its own path, and so is its live revision', async () => {
    const { account, anywhere, canonical } = await givenForm()
    const unpublished = await system.call(account, 'GET', `${anywhere}/revisions/live`)
    await system.call(account, 'POST', `${canonical}/publish`)

    for (const rest of ['', '/revisions/live']) {
      const found = await system.call(account, 'GET', anywhere + rest)
      const named = await system.call(account, 'GET', canonical + rest)
      expect([found.status, found.body]).toEqual([200, named.body])
      const etag = String(named.headers.get('etag'))
      const again = await system.call(account, 'GET', anywhere + rest, undefined, { 'if-none-match': etag })
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
      expect(again.headers.get('cache-control')).toBe('private, no-cache')
    }
    expect([unpublished.status, unpublished.body.error.details[0].reason]).toEqual([
      404,
      'REVISION_NOT_FOUND',
    ])
  })

  it('is found by a member of several organizations, whichever has it', async () => {
    const [one, two] = [await givenForm(), await givenForm()]
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const { userId } = one.account
    await directory.addMember({ organizationId: two.account.organizationId, userId, role: 'viewer' })

    const paths = await Promise.all(
      [one, two].map(async ({ anywhere }) => (await system.call(one.account, 'GET', anywhere)).body.path),
    )

    expect(paths).toEqual([one.form.path, two.form.path])
  })

  it('is the same 404 when it is foreign, deleted, or named by its UUID', async () => {
    const { account, form, anywhere, canonical } = await givenForm()
    const stranger = await system.account()
    const refusal = async (as: typeof account, ref: string) => {
      const { status, body } = await system.call(as, 'GET', anywhere.replace(form.publicId, ref))
      const { details, message } = body.error
      return JSON.stringify([status, message, details[0]]).replaceAll(ref, 'REF')
    }
    const unknown = await refusal(account, 'Zz3dE6gH9j')

    const foreign = await refusal(stranger, form.publicId)
    const byUuid = await refusal(account, canonical.split('/').at(-1)!)
    await system.call(account, 'DELETE', canonical)
    const deleted = await refusal(account, form.publicId)

    expect(JSON.parse(unknown)).toMatchObject([404, expect.any(String), { reason: 'FORM_NOT_FOUND' }])
    expect([foreign, byUuid, deleted]).toEqual([unknown, unknown, unknown])
  })

  it('is lost with the membership, and with the key', async () => {
    const { account, anywhere } = await givenForm()
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const status = async () => (await system.call(account, 'GET', anywhere)).status
    expect(await status()).toBe(200)

    await directory.removeMember(account)
    await expect.poll(status, { timeout: 5_000 }).toBe(404)

    const keys = await directory.listKeys()
    await directory.revokeKey(keys.find(({ userId }) => userId === account.userId)!.keyId)
    await expect.poll(status, { timeout: 5_000 }).toBe(401)
  })

  it('is what the client reads for the organization -', async () => {
    const { account, form, canonical } = await givenForm()
    const client = createClient({ baseUrl: system.baseUrl, apiKey: account.apiKey })
    await system.call(account, 'POST', `${canonical}/publish`)

    const found = await client.forms.get('-', form.publicId)
    const live = await client.revisions.live('-', form.publicId)

    expect(found.form).toEqual({ ...form, live: true })
    expect(live).toMatchObject({ alternateIds: ['live'], form: { path: form.path } })
  })
})
