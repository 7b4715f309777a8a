import { maxEventBytes } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from './testing/start-forms.ts'

const refusedBy = (quota: string) => ({
  code: 429,
  status: 'RESOURCE_EXHAUSTED',
  reason: 'QUOTA_EXCEEDED',
  metadata: expect.objectContaining({ quota }),
})

const send = (service: FormsService, method: 'POST' | 'PATCH', url: string, payload: object) =>
  service.send({ method, url, payload })

describe('an organization at its quota', () => {
  it.each([false, true])(
    'cannot create a form (dry run: %s); invalid requests fail first',
    async (validateOnly) => {
      await using service = await startForms({ quota: { forms: 1, bytes: 0 } })
      const form = await service.given.form()
      const url = `/organizations/${service.organizationId}/forms`

      const refused = await send(service, 'POST', url, { form: {}, validateOnly })
      const invalid = await send(service, 'POST', url, { form: { name: 7 }, validateOnly })

      expect(refusalOf(refused)).toMatchObject(refusedBy('forms'))
      expect(refused.headers['retry-after']).toBeUndefined()
      expect(invalid.statusCode).toBe(400)
      expect(await service.everyForm()).toEqual([form])
    },
  )

  it.each([false, true])('can only shrink a form by a patch (dry run: %s)', async (validateOnly) => {
    // The event of the create leaves no room for another one.
    await using service = await startForms({ quota: { forms: 0, bytes: maxEventBytes + 1_000 } })
    const form = await service.given.form({ name: 'A long name' })
    const rename = (name: string) => send(service, 'PATCH', urlOf(form), { form: { name }, validateOnly })

    const grown = await rename('A longer name')
    const kept = await rename('A LONG NAME')
    const unchanged = await rename('A long name')
    const shrunk = await rename('Short')

    for (const refused of [grown, kept]) expect(refusalOf(refused)).toMatchObject(refusedBy('bytes'))
    expect([unchanged.statusCode, shrunk.statusCode]).toEqual([200, 200])
    expect((await service.forms.get({ ...form, formRef: form.formId }))?.version).toBe(validateOnly ? 1 : 2)
  })
})
