import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { newForm } from './new-form.ts'
import { newDraft } from './write-draft.ts'

it('gives a form a UUID of version 7, which begins with its creation time (RFC 9562)', () => {
  const begun = Date.now()

  const { formId } = newForm(randomUUID(), newDraft({}), new Date(0))

  const msOf = (uuid: string) => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)
  expect(msOf(formId)).toBeGreaterThanOrEqual(begun)
  expect(msOf(formId)).toBeLessThanOrEqual(Date.now())
})
