import { describe, expect, it } from 'vitest'
import { updateAborted } from './errors.ts'

describe('updateAborted', () => {
  it.each([
    ['f', 'organizations/o/forms/f'],
    [undefined, 'organizations/o/forms'],
  ])('names the form, or the collection without one: %s', (formRef, form) => {
    expect(updateAborted({ organizationId: 'o', formRef })).toMatchObject({
      message: `Other requests kept changing ${form}. Repeat the request.`,
      parts: { metadata: { form } },
    })
  })
})
