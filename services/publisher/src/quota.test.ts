import { maxEventBytes } from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import { expect, it } from 'vitest'
import { publish } from './publish.ts'
import { commandFor, draftOf, givenForm, revisionsOf, testBaseUrl, testChecks } from './testing.ts'

it.each([false, true])(
  'rejects a publish beyond the quota after the checks (dry run: %s)',
  async (validateOnly) => {
    const draft = draftOf()
    const quota = { forms: 0, bytes: Buffer.byteLength(JSON.stringify(draft)) + 10 + maxEventBytes }
    await using forms = await openFormsStore('sqlite::memory:', { quota })
    const deps = { forms, checks: testChecks, publicFormBaseUrl: testBaseUrl, now: () => new Date() }
    const form = await givenForm(forms, { draft })

    const delivery = { assertInTime: () => {}, httpRequestId: '' }
    const rejected = publish(commandFor(form, { validateOnly }), deps, delivery)
    const moved = publish(commandFor(form, { validateOnly, ifMatch: ['7-draft.0'] }), deps, delivery)

    await expect(rejected).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED', reason: 'QUOTA_EXCEEDED' })
    await expect(moved).rejects.toMatchObject({ reason: 'FORM_MOVED' })
    expect(await revisionsOf(forms, form)).toEqual({ numbers: [], live: [] })
  },
)
