import { FormDraft, FormEvent, maxEventBytes } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { newForm, time } from '../contract/given.ts'
import { changedFields, operatorContext, recordedEvent, withSequence } from './recorded-event.ts'

const draft = (fields: object) => JSON.stringify({ ...FormDraft.parse({}), ...fields })

describe('changedFields', () => {
  it('names the top-level members that differ', () => {
    const before = draft({ name: 'a', theme: { primaryColor: 'red' }, context: ['x', { y: 1 }] })
    const after = draft({ name: 'b', theme: { primaryColor: 'blue' }, context: ['x', { y: 1 }] })

    expect(changedFields(before, after).sort()).toEqual(['name', 'theme'])
    expect(changedFields(before, before)).toEqual([])
  })

  it('names members that only one of the drafts has', () => {
    expect(changedFields('{"a":1,"b":2}', '{"b":2,"c":3}')).toEqual(['c', 'a'])
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
      lastTime: 0,
      more,
    } as const

    const event = withSequence(recordedEvent(form, fields, context), 1)

    expect(FormEvent.parse(event)).toEqual(event)
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(maxEventBytes)
  })

  it('has a later time than the previous event, even if the clock goes back', () => {
    const form = newForm()
    const lastTime = time(60_000).getTime()
    const fields = { type: 'form.created', after: form, time: time(0), lastTime } as const

    expect(recordedEvent(form, fields, operatorContext).time).toBe(time(60_001).toISOString())
  })
})
