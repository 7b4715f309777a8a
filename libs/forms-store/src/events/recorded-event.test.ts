import { FormDraft, FormEvent, maxEventBytes } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { newForm, time } from '../contract/given.ts'
import { operatorContext } from '../identified-request.ts'
import { changedFields, recordedEvent, revisionMembers, withSequence } from './recorded-event.ts'

const id = '01963f2e-0000-7000-8000-000000000000'

const draft = (fields: object) => ({ ...FormDraft.parse({}), ...fields }) as FormDraft

describe('changedFields', () => {
  it('names the top-level members that differ', () => {
    const before = draft({ name: 'a', theme: { primaryColor: 'red' }, context: ['x', { y: 1 }] })
    const after = draft({ name: 'b', theme: { primaryColor: 'blue' }, context: ['x', { y: 1 }] })

    expect(changedFields(before, after).sort()).toEqual(['name', 'theme'])
    expect(changedFields(before, before)).toEqual([])
  })

  it('names no member whose members only have another order', () => {
    const before = draft({ name: 'a', steps: [{ type: 'rating', key: 'q', max: 5, min: 1 }] })
    const after = draft({ name: 'b', steps: [{ min: 1, max: 5, key: 'q', type: 'rating' }] })

    expect(changedFields(before, after)).toEqual(['name'])
  })

  it('names members that only one of the drafts has', () => {
    expect(changedFields({ a: 1, b: 2 } as never, { b: 2, c: 3 } as never)).toEqual(['c', 'a'])
  })
})

describe('recordedEvent', () => {
  it('is an event of at most 4 KiB, with the longest name and request id', () => {
    const form = newForm({ draft: { name: `${'\0'.repeat(199)}x` } })
    const actor = { user: `users/${form.formId}`, key: { id: form.formId, prefix: 'abcdefgh' } }
    const context = { actor, httpRequestId: '"'.repeat(128) }
    const more = { fields: Object.keys(FormDraft.parse({})) }
    const fields = {
      type: 'form.updated',
      before: form,
      after: form,
      time: time(0),
      lastTime: new Date(0),
      more,
    } as const

    const event = withSequence(recordedEvent(form, fields, context, id), 1)

    expect(FormEvent.parse(event)).toEqual(event)
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(maxEventBytes)
  })

  it('is an event of at most 4 KiB, with the end of a note that is too long cut off', () => {
    const form = newForm({ draft: { name: `${'\0'.repeat(199)}x` } })
    const actor = { user: `users/${form.formId}`, key: { id: form.formId, prefix: 'abcdefgh' } }
    const live = { revisionId: form.formId, number: Number.MAX_SAFE_INTEGER }
    const noteOf = (note: string) => {
      const more = { ...revisionMembers(form, live), note }
      const times = { time: time(0), lastTime: new Date(0) }
      const fields = { type: 'form.unpublished', before: form, after: form, ...times, more } as const
      const recorded = recordedEvent(form, fields, { actor, httpRequestId: '"'.repeat(128) }, id)
      const event = withSequence(recorded, 1)
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(maxEventBytes)
      return event.data.note!
    }

    const note = '漢'.repeat(400)
    expect(noteOf(note)).toBe(note)
    const cut = noteOf('\u{1f600}'.repeat(500))
    expect(cut).toMatch(/^\u{1f600}+$/u)
    expect(Buffer.byteLength(cut)).toBeGreaterThan(1_200)
    expect(noteOf('\0'.repeat(500))).toMatch(/^\0+$/)
  })

  it('has a later time than the previous event, even if the clock goes back', () => {
    const form = newForm()
    const lastTime = time(60_000)
    const fields = { type: 'form.created', after: form, time: time(0), lastTime } as const

    expect(recordedEvent(form, fields, operatorContext, id).time).toBe(time(60_001).toISOString())
  })
})
