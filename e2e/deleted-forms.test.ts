import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sharedSystem } from './shared-system.ts'
import { publishable } from './system.ts'

const system = await sharedSystem()

const givenDeleted = async () => {
  const editor = await system.account()
  const { body: form } = await system.call(editor, 'POST', editor.forms, { form: publishable() })
  const path = `${editor.forms}/${form.publicId}`
  await system.call(editor, 'POST', `${path}/publish`)
  const before = {
    form: (await system.call(editor, 'GET', path)).body,
    revisions: (await system.call(editor, 'GET', `${path}/revisions`)).body,
  }
  await system.call(editor, 'DELETE', path)
  return { editor, form, path, before, list: `/organizations/${editor.slug}/deletedForms` }
}

describe('a deleted form', () => {
  it('can be restored for 30 days, as it was', async () => {
    const { editor, form, path, before, list } = await givenDeleted()

    const { deletedForms, totalSize } = (await system.call(editor, 'GET', list)).body
    const [deleted] = deletedForms
    expect([totalSize, deleted.publicId, deleted.name]).toEqual([1, form.publicId, form.name])
    expect(Date.parse(deleted.purgeTime) - Date.parse(deleted.deleteTime)).toBe(30 * 86_400_000)
    expect((await system.call(editor, 'GET', path)).status).toBe(404)
    expect((await system.call(editor, 'POST', `${path}/publish`)).status).toBe(404)

    const restored = await system.call(editor, 'POST', `${list}/${form.publicId}/undelete`)

    expect([restored.status, restored.body]).toEqual([200, before.form])
    expect((await system.call(editor, 'GET', path)).body).toEqual(before.form)
    expect((await system.call(editor, 'GET', `${path}/revisions`)).body).toEqual(before.revisions)
    expect((await system.call(editor, 'GET', `${path}/revisions/live`)).status).toBe(200)
    expect((await system.call(editor, 'POST', `${path}/publish`)).status).toBe(200)
    expect((await system.call(editor, 'GET', list)).body.deletedForms).toEqual([])
  })

  it('keeps its ids until an owner purges it', async () => {
    const { editor, form, list } = await givenDeleted()
    const formId = form.path.split('/').at(-1)
    const owner = await system.account({ role: 'owner', in: editor })
    const create = () => system.call(editor, 'POST', editor.forms, { form: {}, formId })
    const reasonOf = ({ body }: Awaited<ReturnType<typeof create>>) => body.error.details[0].reason

    expect(reasonOf(await create())).toBe('FORM_ID_TAKEN')
    expect(reasonOf(await system.call(editor, 'DELETE', `${list}/${formId}`))).toBe('OWNER_REQUIRED')
    expect((await system.call(owner, 'DELETE', `${list}/${formId}`)).body).toEqual({})
    expect(reasonOf(await system.call(editor, 'POST', `${list}/${formId}/undelete`))).toBe(
      'DELETED_FORM_NOT_FOUND',
    )

    const again = await create()
    expect([again.status, again.body.path]).toEqual([200, form.path])
    expect(again.body.publicId).not.toBe(form.publicId)
  })

  it('is restored once by concurrent requests, and purged or restored, never both', async () => {
    const { editor, form, path, list } = await givenDeleted()
    const undelete = () => system.call(editor, 'POST', `${list}/${form.publicId}/undelete`)

    const undeleted = await Promise.all(Array.from({ length: 5 }, undelete))
    expect(undeleted.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])

    await system.call(editor, 'DELETE', path)
    const owner = await system.account({ role: 'owner', in: editor })
    const [restored, purged] = await Promise.all([
      undelete(),
      system.call(owner, 'DELETE', `${list}/${form.publicId}`),
    ])
    expect([restored.status, purged.status].sort()).toEqual([200, 404])
    expect((await system.call(editor, 'GET', path)).status).toBe(restored.status)
  })

  it('is invisible to other organizations, which may have a form with the same id', async () => {
    const { editor, form, list } = await givenDeleted()
    const stranger = await system.account({ role: 'owner' })
    const formId = form.path.split('/').at(-1)
    const theirs = `/organizations/${stranger.slug}/deletedForms`

    expect((await system.call(stranger, 'GET', list)).status).toBe(404)
    expect((await system.call(stranger, 'GET', theirs)).body.deletedForms).toEqual([])
    expect((await system.call(stranger, 'DELETE', `${theirs}/${formId}`)).status).toBe(404)
    const created = await system.call(stranger, 'POST', stranger.forms, { form: {}, formId })
    expect(created.body.path).toBe(
      form.path.replace(/^organizations\/[^/]+/, `organizations/${stranger.organizationId}`),
    )
    await system.call(stranger, 'DELETE', `${stranger.forms}/${formId}?requestId=${randomUUID()}`)
    expect((await system.call(stranger, 'DELETE', `${theirs}/${formId}`)).status).toBe(200)
    expect((await system.call(editor, 'POST', `${list}/${formId}/undelete`)).body.path).toBe(form.path)
  })
})
