import { randomUUID } from 'node:crypto'
import type { FormDraft } from '@fms/contracts'
import {
  type FormsStore,
  openFormsStore,
  parseDraft,
  type StoredForm,
  type TakeSnapshot,
  toStoredDraft,
} from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { publish } from './publish.ts'
import {
  commandFor,
  draftOf,
  givenForm,
  intercept,
  question,
  revisionsOf,
  testBaseUrl,
  testChecks,
} from './testing.ts'

const other = { type: 'text', key: 'other' }

const run = (forms: FormsStore, command: Parameters<typeof publish>[0]) =>
  publish(
    command,
    { forms, checks: testChecks, publicFormBaseUrl: testBaseUrl, now: () => new Date() },
    { assertInTime: () => {}, httpRequestId: '' },
  )

const edit = (forms: FormsStore, { organizationId, publicId }: StoredForm, fields: Partial<FormDraft>) =>
  // By public id: the store serializes only changes of one reference, so this may run during a publish by form id.
  forms.update({ organizationId, formRef: publicId }, (current) => ({
    ...current,
    ...toStoredDraft({ ...parseDraft(current), ...fields }),
    version: current.version + 1,
    updateTime: new Date(current.updateTime.getTime() + 1),
  }))

/** A published form with two questions, one of which its draft no longer has. */
const givenRemoval = async (forms: FormsStore) => {
  const form = await givenForm(forms, { draft: draftOf({ steps: [question, other] }) })
  const command = commandFor(form, { refuseBreaking: true })
  await run(forms, command)
  await edit(forms, form, { steps: [question] })
  return { form, command }
}

const breaking = {
  status: 'FAILED_PRECONDITION',
  reason: 'BREAKING_CHANGES',
  httpStatus: 400,
  message: expect.stringContaining('form.steps[1]'),
  parts: {
    metadata: { subject: 'form.steps[1]' },
    preconditionViolations: [
      { type: 'STEP_REMOVED', subject: 'form.steps[1]', description: expect.stringContaining('"other"') },
    ],
  },
}

describe('a publish with refuseBreaking', () => {
  it.each([false, true])(
    'rejects breaking changes, and stores nothing (dry run: %s)',
    async (validateOnly) => {
      await using forms = await openFormsStore('sqlite::memory:')
      const { form } = await givenRemoval(forms)

      await expect(
        run(forms, commandFor(form, { refuseBreaking: true, validateOnly })),
      ).rejects.toMatchObject(breaking)

      expect(await revisionsOf(forms, form)).toEqual({ numbers: [1], live: [1] })
      expect(await run(forms, commandFor(form, { validateOnly }))).toMatchObject({ live: true })
    },
  )

  it('publishes other changes, compared with the revision that is live', async () => {
    await using forms = await openFormsStore('sqlite::memory:')
    const { form } = await givenRemoval(forms)
    await run(forms, commandFor(form))
    await edit(forms, form, { name: 'Later', steps: [other, question] })

    await run(forms, commandFor(form, { refuseBreaking: true }))

    expect(await revisionsOf(forms, form)).toEqual({ numbers: [3, 2, 1], live: [3] })
  })

  it.each<[string, Partial<FormDraft>, object]>([
    ['the checks of the draft', { steps: [] }, { reason: 'DRAFT_NOT_PUBLISHABLE' }],
    ['If-Match', {}, { reason: 'FORM_MOVED' }],
  ])('is rejected by %s first', async (_, fields, expected) => {
    await using forms = await openFormsStore('sqlite::memory:')
    const { form } = await givenRemoval(forms)
    await edit(forms, form, fields)
    const ifMatch = 'steps' in fields ? {} : { ifMatch: ['7-live.0'] }

    await expect(run(forms, commandFor(form, { refuseBreaking: true, ...ifMatch }))).rejects.toMatchObject(
      expected,
    )
  })

  it('is judged again when another publish comes first', async () => {
    await using forms = await openFormsStore('sqlite::memory:')
    const form = await givenForm(forms)
    await run(forms, commandFor(form))
    /** Publishes another question, and removes it from the draft. */
    const interfere = async () => {
      await edit(forms, form, { steps: [question, other] })
      await run(forms, commandFor(form, { formRef: form.publicId }))
      await edit(forms, form, { steps: [question] })
    }
    let snapshots = 0
    const raced = intercept(forms, ({ method, args, proceed }) => {
      const [ref, commandId, snapshot, ...rest] = args as Parameters<FormsStore['publish']>
      if (method !== 'publish') return proceed()
      const racing: TakeSnapshot = async (current, readLive) => {
        const taken = await snapshot(current, readLive)
        if (snapshots++ === 0) await interfere()
        return taken
      }
      return forms.publish(ref, commandId, racing, ...rest)
    })

    await expect(run(raced, commandFor(form, { refuseBreaking: true }))).rejects.toMatchObject(breaking)

    expect(snapshots).toBe(1)
    expect(await revisionsOf(forms, form)).toEqual({ numbers: [2, 1], live: [2] })
  })

  it('succeeds again once it was carried out, whatever the draft has become', async () => {
    await using forms = await openFormsStore('sqlite::memory:')
    const { form, command } = await givenRemoval(forms)

    for (const validateOnly of [false, true]) {
      expect(await run(forms, { ...command, validateOnly })).toMatchObject({ live: true })
    }

    expect(await revisionsOf(forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('compares nothing before the first publish', async () => {
    await using forms = await openFormsStore('sqlite::memory:')
    const form = await givenForm(forms)

    expect(await run(forms, commandFor(form, { refuseBreaking: true }))).toMatchObject({ live: true })
    const unknown = commandFor({ ...form, formId: randomUUID() }, { refuseBreaking: true })
    await expect(run(forms, unknown)).rejects.toMatchObject({ reason: 'FORM_NOT_FOUND' })
  })
})
