import { openDirectoryStore } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { createClient } from '../libs/client/src/index.ts'
import { sharedSystem } from './shared-system.ts'
import { publishable } from './system.ts'

const system = await sharedSystem()

/** A form of a new account, its path by the public id only, and its canonical path. */
const givenForm = async () => {
  const account = await system.account()
  const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
  const byPublicId = `/organizations/-/forms/${form.publicId}`
  const canonical = `/${form.path}`
  return { account, form, byPublicId, canonical }
}

describe('a form by its public id without an organization', () => {
  it('is read like by its canonical path, and so is its live revision', async () => {
    const { account, byPublicId, canonical } = await givenForm()
    const unpublished = await system.call(account, 'GET', `${byPublicId}/revisions/live`)
    await system.call(account, 'POST', `${canonical}/publish`)

    for (const rest of ['', '/revisions/live']) {
      const found = await system.call(account, 'GET', byPublicId + rest)
      const byCanonicalPath = await system.call(account, 'GET', canonical + rest)
      expect([found.status, found.body]).toEqual([200, byCanonicalPath.body])
      const etag = String(byCanonicalPath.headers.get('etag'))
      const again = await system.call(account, 'GET', byPublicId + rest, undefined, { 'if-none-match': etag })
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
      expect(again.headers.get('cache-control')).toBe('private, no-cache')
    }
    expect([unpublished.status, unpublished.body.error.details[0].reason]).toEqual([
      404,
      'REVISION_NOT_FOUND',
    ])
  })

  it('is found in any organization of the caller', async () => {
    const [one, two] = [await givenForm(), await givenForm()]
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const { userId } = one.account
    await directory.addMember({ organizationId: two.account.organizationId, userId, role: 'viewer' })

    const paths = await Promise.all(
      [one, two].map(async ({ byPublicId }) => (await system.call(one.account, 'GET', byPublicId)).body.path),
    )

    expect(paths).toEqual([one.form.path, two.form.path])
  })

  it('gets the same 404 when it is foreign, deleted, or referenced by its UUID', async () => {
    const { account, form, byPublicId, canonical } = await givenForm()
    const stranger = await system.account()
    const rejection = async (as: typeof account, ref: string) => {
      const { status, body } = await system.call(as, 'GET', byPublicId.replace(form.publicId, ref))
      const { details, message } = body.error
      return JSON.stringify([status, message, details[0]]).replaceAll(ref, 'REF')
    }
    const unknown = await rejection(account, 'Zz3dE6gH9j')

    const foreign = await rejection(stranger, form.publicId)
    const byUuid = await rejection(account, canonical.split('/').at(-1)!)
    await system.call(account, 'DELETE', canonical)
    const deleted = await rejection(account, form.publicId)

    expect(JSON.parse(unknown)).toMatchObject([404, expect.any(String), { reason: 'FORM_NOT_FOUND' }])
    expect([foreign, byUuid, deleted]).toEqual([unknown, unknown, unknown])
  })

  it('becomes unreadable when the membership or the key is removed', async () => {
    const { account, byPublicId } = await givenForm()
    await using directory = await openDirectoryStore(system.directoryStoreUrl)
    const status = async () => (await system.call(account, 'GET', byPublicId)).status
    expect(await status()).toBe(200)

    await directory.removeMember(account)
    await expect.poll(status).toBe(404)

    const keys = await directory.listKeys()
    await directory.revokeKey(keys.find(({ userId }) => userId === account.userId)!.keyId)
    await expect.poll(status).toBe(401)
  })

  it('is readable through the client with the organization -', async () => {
    const { account, form, canonical } = await givenForm()
    const client = createClient({ baseUrl: system.baseUrl, apiKey: account.apiKey })
    await system.call(account, 'POST', `${canonical}/publish`)

    const found = await client.forms.get('-', form.publicId)
    const live = await client.revisions.live('-', form.publicId)

    expect(found.form).toEqual({ ...form, live: true })
    expect(live).toMatchObject({ alternateIds: ['live'], form: { path: form.path } })
  })
})
