import { openFormsStore, parseDraft, type StoredForm, toStoredDraft } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { compareWithLive } from './compare-with-live.ts'
import { publish } from './publish.ts'
import { commandFor, draftOf, givenForm, question, testBaseUrl } from './testing.ts'

/** A live revision with a question that its draft lacks. */
const givenRemoval = async (description = '') => {
  await using forms = await openFormsStore('sqlite::memory:')
  const other = { type: 'text', key: 'other', description }
  const form = await givenForm(forms, { draft: draftOf({ steps: [question, other] }) })
  const deps = { forms, publicFormBaseUrl: testBaseUrl, now: () => new Date() }
  await publish(commandFor(form), deps, { assertInTime: () => {}, httpRequestId: '' })
  const found = await forms.getRevision({ ...form, formRef: form.formId }, 'live')
  const draft: StoredForm = { ...form, ...toStoredDraft({ ...parseDraft(form), steps: [question] }) }
  return (userId: string) => compareWithLive(draft, found!.revision, userId)
}

const removed = [expect.objectContaining({ type: 'STEP_REMOVED', subject: 'form.steps[1]' })]

describe('comparisons with the live revision', () => {
  it('of large forms run one at a time, users alternate, and small ones do not wait', async () => {
    const compareLarge = await givenRemoval('x'.repeat(100_000))
    const compareSmall = await givenRemoval()
    const order: string[] = []
    const compare = async (name: string, compareEach: typeof compareSmall) => {
      expect(await compareEach(name)).toEqual(removed)
      order.push(name)
    }

    await Promise.all([
      ...Array.from({ length: 4 }, () => compare('first', compareLarge)),
      ...Array.from({ length: 2 }, () => compare('second', compareLarge)),
      compare('small', compareSmall),
    ])

    expect(order[0]).toBe('small')
    expect(order.filter((name) => name === 'second')).toHaveLength(2)
    expect(order.lastIndexOf('second')).toBeLessThan(order.lastIndexOf('first'))
  })

  it('of large forms are rejected when too many of a user wait', async () => {
    const compare = await givenRemoval('x'.repeat(100_000))

    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => compare('user')))

    const rejected = outcomes.filter(({ status }) => status === 'rejected')
    expect(rejected).toHaveLength(8)
    for (const { reason } of rejected as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ status: 'UNAVAILABLE', reason: 'OVERLOADED' })
    }
    expect(await compare('user')).toEqual(removed)
  })
})
