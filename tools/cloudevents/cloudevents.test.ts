import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eventTypes, FormEvent } from '@fms/contracts'
import { openFormsStore, operatorContext, type StoredForm } from '@fms/forms-store'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { texts } from '../../console/src/texts.ts'
import { edited, givenForm, newForm, refOf, time } from '../../libs/forms-store/src/contract/given.ts'
import { toFormRecord } from '../../libs/forms-store/src/stored-form-record.ts'

const ajv = new Ajv({ strictTypes: false })
formats.default(ajv)
const isCloudEvent = ajv.compile(
  JSON.parse(readFileSync(new URL('cloudevents.schema.json', import.meta.url), 'utf8')),
)

/** Events of every type, as a store records them. */
const recordedEvents = async (): Promise<FormEvent[]> => {
  await using store = await openFormsStore('sqlite::memory:', { deletedFormsDays: 30 })
  const form = await givenForm(store)
  const { organizationId } = form
  await store.update(refOf(form), (current) => edited(current, { name: '"ä€😀\0' }))
  const snapshot = { revisionId: randomUUID(), createTime: time(0), publisher: '', note: '', formJson: '{}' }
  await store.publish(refOf(form), randomUUID(), () => snapshot)
  const { revisionId } = snapshot
  const restore = (current: StoredForm) => edited(current, { name: 'As before' })
  await store.update(refOf(form), restore, operatorContext, { revisionId, number: 1 })
  await store.unpublish(refOf(form), 'For a while', () => {})
  await store.delete(refOf(form), () => {})
  await store.undelete(refOf(form), () => {})
  await store.delete(refOf(form), () => {})
  await store.purge(refOf(form), () => {})
  const history = { revisionNumber: 0, liveNumber: 0, liveRevisionId: null, revisions: [], replyIds: [] }
  await store.importForm(toFormRecord(newForm({ organizationId }), history))
  return await store.events.read({ organizationId, limit: 100 })
}

describe('an event of every type', async () => {
  const events = await recordedEvents()

  it('is recorded', () => {
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(eventTypes))
  })

  it('is in docs/api.md, and has a text in the console', () => {
    const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
    const [, listed] = /^- `type` is (.*?)\. Ignore/ms.exec(page)!
    expect(listed!.match(/form\.\w+/g)).toEqual([...eventTypes])
    expect(Object.keys(texts.activity.types)).toEqual([...eventTypes])
  })

  it.each(events)('matches the JSON Schema of CloudEvents: $type', (event) => {
    expect(isCloudEvent(event) || isCloudEvent.errors).toBe(true)
    expect(FormEvent.parse(event)).toEqual(event)
  })

  it.each(events)(
    'has attributes with valid names and non-empty values: $type',
    ({ data: _, ...attributes }) => {
      for (const [name, value] of Object.entries(attributes)) {
        // CloudEvents 1.0.2, "Naming conventions" and "Type system".
        expect(name).toMatch(/^[a-z0-9]{1,20}$/)
        expect(value).toMatch(/^[^\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]+$/u)
      }
    },
  )
})

describe('the JSON Schema of CloudEvents', () => {
  it.each([['id'], ['source'], ['specversion'], ['type']])('requires %s', async (attribute) => {
    const [event] = await recordedEvents()

    expect(isCloudEvent({ ...event, [attribute]: undefined })).toBe(false)
    expect(isCloudEvent({ ...event, [attribute]: '' })).toBe(false)
  })
})
