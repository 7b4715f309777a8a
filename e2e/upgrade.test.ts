import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FormDraft } from '@fms/contracts'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore, openFormsStore, RequestReplay, toStoredDraft } from '@fms/forms-store'
import { describe, expect, it, vi } from 'vitest'
import { engines } from './stores/engines.ts'
import { readDirectory } from './stores/fill-directory.ts'
import { type FormsContent, readForms } from './stores/fill-forms.ts'

const folder = join(import.meta.dirname, 'stores')
const releases = readdirSync(folder).filter((name) => /^\d/.test(name))

const stores = releases.flatMap((release) => {
  const read = (store: string) => JSON.parse(readFileSync(join(folder, release, `${store}.json`), 'utf8'))
  return engines.map((engine) => ({ release, read, engine, name: engine.name }))
})

describe.each(stores)('the stores of release $release on $name', ({ read, engine }) => {
  /** A store as that release has left it. */
  const restored = async (store: 'forms' | 'directory') => {
    const created = await engine.create(store)
    await engine.restore(created.url, read(store)[engine.name])
    return created
  }
  const expected: FormsContent = read('forms').content

  it('keep every form, deleted form, revision, reply and event', async () => {
    await using forms = await restored('forms')
    await migrateFormsStore(forms.url)

    await using store = await openFormsStore(forms.url)

    expect(await readForms(store)).toEqual(expected)
  })

  it('accept changes, which continue those of that release', async () => {
    await using forms = await restored('forms')
    await migrateFormsStore(forms.url)
    await using store = await openFormsStore(forms.url)
    const [form] = expected.forms
    const { organizationId, formId } = form!
    const ref = { organizationId, formRef: formId }
    const matches = async (text: string) => {
      const filter = { kind: 'search', field: 'name', text } as const
      return (await store.list({ organizationId, filter, orderBy: [], limit: 10, skip: 0 })).totalSize
    }
    expect(await matches('feedback')).toBe(1)

    const renamed = toStoredDraft(FormDraft.parse({ name: 'Renamed' }))
    await store.update(ref, (current) => ({ ...current, version: current.version + 1, ...renamed }))
    await store.publish(ref, randomUUID(), (current) => ({
      revisionId: randomUUID(),
      createTime: new Date(),
      publisher: '',
      note: '',
      formJson: current.draftJson,
    }))
    const deleted = expected.forms.find(({ deletion }) => deletion)!
    expect(await store.undelete({ organizationId, formRef: deleted.formId }, () => {})).toBeDefined()

    expect([await matches('feedback'), await matches('renamed')]).toEqual([0, 1])
    expect(await store.getRevisionState(ref, 'latest')).toMatchObject({ live: true })
    const eventsOf = ({ events }: FormsContent) =>
      events.filter(({ subject }) => subject.includes(organizationId))
    const events = eventsOf(await readForms(store))
    const before = eventsOf(expected)
    expect(events.slice(0, before.length)).toEqual(before)
    expect(events.slice(before.length).map(({ type, sequence }) => [type, Number(sequence)])).toEqual(
      ['form.updated', 'form.published', 'form.undeleted'].map((type, index) => [
        type,
        before.length + 1 + index,
      ]),
    )
  })

  it('remember requests, and the use of each organization', async () => {
    await using forms = await restored('forms')
    await migrateFormsStore(forms.url)
    await using store = await openFormsStore(forms.url)
    const [form] = expected.forms
    const { organizationId } = form!
    const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
    const own = expected.forms.filter((each) => each.organizationId === organizationId)
    const events = await store.events.read({ organizationId, limit: 1_000 })
    const content = own.flatMap(({ draft, revisions }) => [draft, ...revisions.map(({ form }) => form)])
    const bytes = [...content, ...events].reduce((sum, json) => sum + bytesOf(json), 0)

    // What purged forms have left is cleared soon after the start.
    await vi.waitFor(
      async () =>
        expect(await store.usage(organizationId)).toEqual({
          forms: own.filter(({ deletion }) => !deletion).length,
          bytes,
        }),
      10_000,
    )
    const request = {
      requestId: '00000000-0000-4000-8000-000000000003',
      method: 'create',
      digest: 'f'.repeat(64),
    } as const
    const repeat = store.checkRequest({ organizationId }, request)
    await expect(repeat).rejects.toBeInstanceOf(RequestReplay)
  })

  it('keep every user, organization, member and key', async () => {
    await using directory = await restored('directory')
    await migrateDirectoryStore(directory.url)

    await using store = await openDirectoryStore(directory.url)

    expect(JSON.parse(JSON.stringify(await readDirectory(store)))).toEqual(read('directory').content)
  })
})
