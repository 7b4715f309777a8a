import { randomUUID } from 'node:crypto'
import { ApiError } from '@fms/aip'
import { Form, type FormDraft, FormPublished, type PublishForm } from '@fms/contracts'
import {
  type FormRef,
  type FormsStore,
  type FormsStoreOptions,
  formETag,
  formToJson,
  openFormsStore,
  parseDraft,
  parseSnapshot,
  type StoredForm,
  toStoredDraft,
} from '@fms/forms-store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publish, toFormPublished } from './publish.ts'
import {
  commandFor,
  draftOf,
  givenForm,
  intercept,
  question,
  type Reply,
  readReply,
  revisionsOf,
  testBaseUrl,
  testChecks,
} from './testing.ts'

const now = new Date('2026-11-21T10:00:00.000Z')

const start = async (options?: FormsStoreOptions) => {
  const forms = await openFormsStore('sqlite::memory:', options)
  return {
    forms,
    run: async (command: PublishForm, store = forms) => {
      const deps = { forms: store, checks: testChecks, publicFormBaseUrl: testBaseUrl, now: () => now }
      const form = await publish(command, deps, { assertInTime: () => {}, httpRequestId: 'request-1' })
      return readReply(FormPublished.encode(toFormPublished(form, testBaseUrl)))
    },
    [Symbol.asyncDispose]: () => forms.close(),
  }
}

/** Changes the draft, as a patch would. */
const edit = (forms: FormsStore, { organizationId, formId }: StoredForm, fields: Partial<FormDraft>) =>
  forms.update({ organizationId, formRef: formId }, (current) => ({
    ...current,
    ...toStoredDraft({ ...parseDraft(current), ...fields }),
    version: current.version + 1,
    updateTime: new Date(current.updateTime.getTime() + 1),
  }))

const stored = (forms: FormsStore, { organizationId, formId }: StoredForm) =>
  forms.get({ organizationId, formRef: formId })

const remove = (forms: FormsStore, { organizationId, formId }: StoredForm) =>
  forms.delete({ organizationId, formRef: formId }, () => {})

describe('publish', () => {
  it('stores the draft as the live revision, and does not change the draft', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms, { replyCount: 0 })
    const command = commandFor(form)

    const answer = await run(command)

    const published = { ...form, live: true }
    expect(answer).toEqual({
      outcome: 'published',
      form: JSON.parse(formToJson(published, testBaseUrl)),
      etag: formETag(published),
    })
    expect(await stored(forms, form)).toEqual(published)
    const live = await liveRevision(forms, { ...form, formRef: form.publicId })
    expect(live).toMatchObject({
      live: true,
      revision: {
        organizationId: form.organizationId,
        formId: form.formId,
        commandId: command.commandId,
        number: 1,
        createTime: now,
        form: JSON.parse(formToJson(published, testBaseUrl)),
      },
    })
    expect(Form.parse(live?.revision.form).live).toBe(true)
  })

  it.each([undefined, { id: randomUUID(), prefix: 'abcdefgh' }])(
    'records who has published, with the key %j',
    async (key) => {
      await using service = await start()
      const { forms, run } = service
      const form = await givenForm(forms)
      const command = commandFor(form, { key })

      await run(command)
      await run(command)

      const [, ...published] = await forms.events.read({ organizationId: form.organizationId, limit: 10 })
      const user = `users/${command.userId}`
      expect(published).toMatchObject([
        { type: 'form.published', data: { number: 1, httpRequestId: 'request-1' } },
      ])
      expect(published[0]!.data.actor).toEqual(key ? { user, key } : { user })
    },
  )

  it.each([undefined, 'Why? 😀'])('stores who has published, and the note %j', async (note) => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const command = commandFor(form, { note })
    await run({ ...command, commandId: randomUUID(), validateOnly: true })

    await run(command)

    const page = await forms.listRevisions({ ...form, formRef: form.formId, limit: 10, skip: 0 })
    expect(page!.revisions).toMatchObject([
      { revision: { number: 1, publisher: `users/${command.userId}`, note: note ?? '' } },
    ])
  })

  it('finds the form by its public id', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)

    await service.run(commandFor(form, { formRef: form.publicId }))

    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('moves live to the latest revision, and does not change earlier ones', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const first = commandFor(form)
    await run(first)
    const { revision } = (await forms.getRevision(refOf(form), 'live'))!
    await edit(forms, form, { name: 'Second' })

    const answer = await run(commandFor(form))

    expect(answer).toMatchObject({ form: { name: 'Second', updateTime: '2026-11-20T09:30:00.001Z' } })
    expect(await revisionsOf(forms, form)).toEqual({ numbers: [2, 1], live: [2] })
    expect(await forms.getRevision(refOf(form), revision.revisionId)).toMatchObject({ revision })
  })

  it('gives a revision an id that begins with its creation time (RFC 9562, version 7)', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)
    const begun = Date.now()

    await service.run(command)

    const { revisionId } = (await service.forms.getRevision(refOf(form), 'live'))!
    const ms = Number.parseInt(revisionId.replaceAll('-', '').slice(0, 12), 16)
    expect(ms).toBeGreaterThanOrEqual(begun)
    expect(ms).toBeLessThanOrEqual(Date.now())
  })

  it.each<[string, PublishForm['ifMatch'], boolean]>([
    ['*', '*', true],
    ['the draft as it is', ['1-draft.0'], true],
    ['the draft as it is, published or replied to meanwhile', ['1-live.7'], true],
    ['one of several', ['7-draft.0', '1-draft.0'], true],
    ['an earlier draft', ['0-draft.0'], false],
    ['a version that begins alike', ['11-draft.0'], false],
    ['weak tags alone', [], false],
  ])('publishes on If-Match %s only if it holds', async (_, ifMatch, holds) => {
    await using service = await start()
    const form = await givenForm(service.forms)

    const answer = service.run(commandFor(form, { ifMatch }))

    if (holds) return expect(await answer).toMatchObject({ outcome: 'published' })
    await expect(answer).rejects.toMatchObject({ reason: 'FORM_MOVED', httpStatus: 412 })
    await expectUntouched(service, form)
  })
})

describe('a publish that fails a check', () => {
  it('lists all violations of the draft, and stores nothing', async () => {
    await using service = await start()
    const form = await givenForm(service.forms, { draft: draftOf({ steps: [], defaultMode: 'voice' }) })

    const answer = service.run(commandFor(form))

    await expect(answer).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'DRAFT_NOT_PUBLISHABLE',
      httpStatus: 400,
      parts: {
        preconditionViolations: [
          expect.objectContaining({ subject: 'form.steps' }),
          expect.objectContaining({ subject: 'form.defaultMode' }),
        ],
      },
    })
    await edit(service.forms, form, draftOf())
    await expectUntouched(service, form)
  })

  it('says that there may be more violations than the 1,000 that it lists', async () => {
    await using service = await start()
    const branches = Array.from({ length: 1_001 }, () => ({ targetStepKey: 'gone', groups: [] }))
    const steps = [{ type: 'text', key: 'q', branches }]
    const form = await givenForm(service.forms, { draft: draftOf({ steps }) })

    await expect(service.run(commandFor(form))).rejects.toThrow('(and at least 999 more)')
  })

  it.each(['unknown', 'of another organization', 'no id at all'])(
    'finds no form that is %s',
    async (which) => {
      await using service = await start()
      const form = await givenForm(service.forms)
      const ref = {
        unknown: { formRef: randomUUID() },
        'of another organization': { organizationId: randomUUID() },
        'no id at all': { formRef: "' OR 1=1" },
      }[which]

      await expect(service.run(commandFor(form, ref))).rejects.toMatchObject({
        status: 'NOT_FOUND',
        reason: 'FORM_NOT_FOUND',
      })
      await expectUntouched(service, form)
    },
  )
})

describe('a requestId', () => {
  it('that is repeated creates no second revision', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)
    const first = await service.run(command)

    expect(await service.run({ ...command, formRef: form.publicId })).toEqual(first)
    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('is rejected with another note, and its revision keeps the first one', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form, { note: 'First' })
    await service.run(command)

    for (const note of ['Second', undefined]) {
      for (const validateOnly of [true, false]) {
        const reused = {
          ...commandFor(form, { commandId: command.commandId, validateOnly }),
          ...(note && { note }),
        }
        await expect(service.run(reused)).rejects.toMatchObject({
          reason: 'REQUEST_ID_REUSED',
          httpStatus: 409,
        })
      }
    }
    expect(await service.run(command)).toMatchObject({ outcome: 'published' })
    const found = await service.forms.getRevision(refOf(form), 'live')
    expect(found).toMatchObject({ revision: { number: 1, note: 'First' } })
  })

  it('is rejected with another note before a revision of an import becomes live', async () => {
    await using source = await start()
    const form = await givenForm(source.forms)
    const command = commandFor(form, { note: 'First' })
    await source.run(command)
    const [record] = await Array.fromAsync(source.forms.exportForms(form.organizationId))
    await using service = await start()
    await service.forms.importForm({ ...record!, live: null })

    await expect(service.run({ ...command, note: 'Second' })).rejects.toMatchObject({
      reason: 'REQUEST_ID_REUSED',
    })
    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [] })
    await service.run(command)
    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('is rejected with another note, also while the first one is under way', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form, { note: 'First' })

    const outcomes = await Promise.allSettled([
      service.run(command),
      service.run({ ...command, formRef: form.publicId, note: 'Second' }),
    ])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('that is repeated after an edit still succeeds, even if If-Match or the checks would fail now', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const command = commandFor(form, { ifMatch: ['1-draft.0'] })
    await run(command)
    await edit(forms, form, { name: 'Edited', steps: [] })

    expect(await run(command)).toMatchObject({ outcome: 'published', form: { name: 'Edited', live: true } })
    expect(await run({ ...command, validateOnly: true })).toMatchObject({ outcome: 'published' })
    expect(await revisionsOf(forms, form)).toEqual({ numbers: [1], live: [1] })
  })

  it('that is repeated after a later publish does not change the live revision', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)
    await service.run(command)
    await service.run(commandFor(form))

    await service.run(command)

    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [2, 1], live: [2] })
  })

  it('is rejected for another form of the organization, which does not change', async () => {
    await using service = await start()
    const { organizationId, ...form } = await givenForm(service.forms)
    const other = await givenForm(service.forms, { organizationId })
    const command = commandFor({ organizationId, ...form })
    await service.run(command)

    for (const validateOnly of [true, false]) {
      const reused = commandFor(other, { commandId: command.commandId, validateOnly })
      await expect(service.run(reused)).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'REQUEST_ID_REUSED',
        httpStatus: 409,
        parts: {
          metadata: {
            organization: `organizations/${organizationId}`,
            requestId: command.commandId,
            method: 'publish',
          },
        },
      })
    }
    await expectUntouched(service, other)
  })

  it('is rejected for another form once its form is deleted, before the rules are checked', async () => {
    await using service = await start({ deletedFormsDays: 30 })
    const form = await givenForm(service.forms)
    const other = await givenForm(service.forms, { organizationId: form.organizationId })
    const command = commandFor(form)
    await service.run(command)
    await remove(service.forms, form)

    for (const validateOnly of [true, false]) {
      const reused = commandFor(other, { commandId: command.commandId, validateOnly, ifMatch: ['7-draft.0'] })
      await expect(service.run(reused)).rejects.toMatchObject({ reason: 'REQUEST_ID_REUSED' })
    }
    await expectUntouched(service, other)
  })

  it('can be used in another organization', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const foreign = await givenForm(service.forms)
    const command = commandFor(form)
    await service.run(command)

    await service.run(commandFor(foreign, { commandId: command.commandId }))

    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [1] })
    expect(await revisionsOf(service.forms, foreign)).toEqual({ numbers: [1], live: [1] })
  })

  it('for two forms concurrently publishes one of them', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const other = await givenForm(service.forms, { organizationId: form.organizationId })
    const commandId = randomUUID()

    const settled = await Promise.allSettled(
      [form, other].map((one) => service.run(commandFor(one, { commandId }))),
    )

    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(settled.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { reason: 'REQUEST_ID_REUSED' },
    })
    const made = await Promise.all([form, other].map((one) => revisionsOf(service.forms, one)))
    expect(made.flatMap(({ live }) => live)).toHaveLength(1)
    expect(made.flatMap(({ numbers }) => numbers)).toHaveLength(1)
  })

  it('can be used again after its form is deleted', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)
    await service.run(command)
    await remove(service.forms, form)

    await expect(service.run(command)).rejects.toMatchObject({ reason: 'FORM_NOT_FOUND' })
    const other = await givenForm(service.forms, { organizationId: form.organizationId })
    await service.run(commandFor(other, { commandId: command.commandId }))
    expect(await revisionsOf(service.forms, other)).toEqual({ numbers: [1], live: [1] })
  })
})

describe('validateOnly', () => {
  it('replies like the real publish, and stores nothing', async () => {
    await using service = await start()
    const command = fc.record({
      draft: anyDraft,
      ref: fc.constantFrom('id', 'public id', 'unknown', 'foreign'),
      ifMatch: fc.constantFrom<PublishForm['ifMatch']>(undefined, '*', ['3-live.0'], ['2-live.0'], []),
      requestId: fc.constantFrom('new', 'of this form', 'of another form'),
    })
    const outcomes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(command, async ({ draft, ref, ifMatch, requestId }) => {
        const { forms, run } = service
        const form = await givenForm(forms)
        const other = await givenForm(forms, { organizationId: form.organizationId })
        const usedHere = commandFor(form)
        const usedThere = commandFor(other)
        await Promise.all([run(usedHere), run(usedThere)])
        await edit(forms, form, { ...draft })
        await edit(forms, form, { name: 'The third version' })
        const before = [await stored(forms, form), await revisionsOf(forms, form)]
        const real = commandFor(form, {
          ...(ref === 'public id' && { formRef: form.publicId }),
          ...(ref === 'unknown' && { formRef: randomUUID() }),
          ...(ref === 'foreign' && { organizationId: randomUUID() }),
          ...(requestId === 'of this form' && { commandId: usedHere.commandId }),
          ...(requestId === 'of another form' && { commandId: usedThere.commandId }),
          ifMatch,
        })

        const tried = await outcome(run({ ...real, validateOnly: true }))
        expect([await stored(forms, form), await revisionsOf(forms, form)]).toEqual(before)
        const done = await outcome(run(real))

        expect(tried).toEqual(done)
        outcomes.add(tried instanceof ApiError ? tried.reason : 'published')
        // Neither took a number that it did not use.
        await edit(forms, form, draftOf())
        await run(commandFor(form))
        const { numbers } = await revisionsOf(forms, form)
        expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index))
      }),
      { numRuns: 300 },
    )
    expect([...outcomes].sort()).toEqual([
      'DRAFT_NOT_PUBLISHABLE',
      'FORM_MOVED',
      'FORM_NOT_FOUND',
      'REQUEST_ID_REUSED',
      'published',
    ])
  })

  it('returns the form as it would be, if it was never published', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)

    const tried = await service.run(commandFor(form, { validateOnly: true }))

    expect(tried).toMatchObject({ form: { live: true } })
    await expectUntouched(service, form)
  })

  it('replies to a repeat with the form as it is now, after an unpublish, too', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const command = commandFor(form)
    await run(command)
    await forms.unpublish(refOf(form), '', () => {})

    const tried = await run({ ...command, validateOnly: true })

    expect(tried).toMatchObject({ form: { live: false } })
    expect(tried).toEqual(await run(command))
  })

  it('of a command that was killed does not complete it', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = await givenHalfPublished(service.forms, form)

    const tried = await service.run({ ...command, validateOnly: true })

    expect(tried).toMatchObject({ outcome: 'published' })
    expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [] })
  })
})

describe('a form deleted in the meantime', () => {
  it('is not found, and nothing of it remains', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)

    const answer = service.run(command, deletedBefore(0, service.forms, form))

    await expect(answer).rejects.toMatchObject({ status: 'NOT_FOUND', reason: 'FORM_NOT_FOUND' })
    expect(await Array.fromAsync(service.forms.exportForms(form.organizationId))).toEqual([])
    await expect(service.run(command)).rejects.toMatchObject({ reason: 'FORM_NOT_FOUND' })
  })

  it('before a repeat is not found', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)
    await service.run(command)

    const answer = service.run(command, deletedBefore(0, service.forms, form))

    await expect(answer).rejects.toMatchObject({ reason: 'FORM_NOT_FOUND' })
  })
})

describe('a publisher killed before or after the store publishes', () => {
  it.each([[['before']], [['after']], [['before', 'after']], [['after', 'after']]])(
    'leaves a command that the next delivery finishes: one revision, live, the same reply (%j)',
    async (kills) => {
      await using service = await start()
      const form = await givenForm(service.forms)
      const command = commandFor(form)
      const undisturbed = { ...form, live: true }

      for (const kill of kills) {
        await expect(service.run(command, killed(kill, service.forms))).rejects.toThrow(Killed)
      }

      expect(await service.run(command)).toEqual({
        outcome: 'published',
        form: JSON.parse(formToJson(undisturbed, testBaseUrl)),
        etag: formETag(undisturbed),
      })
      expect(await revisionsOf(service.forms, form)).toEqual({ numbers: [1], live: [1] })
    },
  )

  it.each([
    ['before', 'Edited'],
    ['after', 'Untitled form'],
  ])('%s: what was edited meanwhile is published as %s', async (kill, name) => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const command = commandFor(form)

    await expect(run(command, killed(kill, forms))).rejects.toThrow(Killed)
    await edit(forms, form, { name: 'Edited' })
    await run(command)

    expect(await liveRevision(forms, refOf(form))).toMatchObject({ revision: { form: { name } } })
  })

  it('after its revision was stored completes it, even if the draft can no longer be published', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const command = await givenHalfPublished(forms, form)

    await edit(forms, form, { steps: [] })
    await run(command)

    expect(await liveRevision(forms, refOf(form))).toMatchObject({
      revision: { form: { steps: [question] } },
    })
  })
})

describe('concurrent publishes', () => {
  it('create 50 revisions, the highest of which is live', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)

    await Promise.all(Array.from({ length: 50 }, () => service.run(commandFor(form))))

    const { numbers, live } = await revisionsOf(service.forms, form)
    expect(numbers).toHaveLength(50)
    expect(new Set(numbers).size).toBe(50)
    expect(live).toEqual([Math.max(...numbers)])
  })

  it('with one requestId create one revision, and get the same reply', async () => {
    await using service = await start()
    const form = await givenForm(service.forms)
    const command = commandFor(form)

    const answers = await Promise.all(Array.from({ length: 20 }, () => service.run(command)))

    for (const answer of answers) expect(answer).toEqual(answers[0])
    const { numbers, live } = await revisionsOf(service.forms, form)
    expect(numbers).toHaveLength(1)
    expect(live).toEqual(numbers)
  })

  it('never move live back if one is delayed before the store', async () => {
    await using service = await start()
    const { forms, run } = service
    const form = await givenForm(forms)
    const reached = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const delayed = intercept(forms, async ({ method, proceed }) => {
      if (method === 'publish') {
        reached.resolve()
        await goOn.promise
      }
      return proceed()
    })

    const early = run(commandFor(form), delayed)
    await reached.promise
    await edit(forms, form, { name: 'Later' })
    await run(commandFor(form))
    goOn.resolve()

    expect(await early).toMatchObject({ outcome: 'published' })
    expect(await revisionsOf(forms, form)).toEqual({ numbers: [2, 1], live: [2] })
    expect(await liveRevision(forms, refOf(form))).toMatchObject({
      revision: { form: { name: 'Later' } },
    })
  })
})

const liveRevision = async (forms: FormsStore, ref: FormRef) => {
  const found = await forms.getRevision(ref, 'live')
  return found && { ...found, revision: { ...found.revision, form: parseSnapshot(found.revision) } }
}

const refOf = ({ organizationId, formId }: StoredForm) => ({ organizationId, formRef: formId })

/** No revision, not live, and no number taken: the next one is the first. */
const expectUntouched = async ({ forms, run }: Awaited<ReturnType<typeof start>>, form: StoredForm) => {
  expect(await revisionsOf(forms, form)).toEqual({ numbers: [], live: [] })
  expect(await stored(forms, form)).toMatchObject({ live: false })
  await run(commandFor(form))
  expect(await revisionsOf(forms, form)).toEqual({ numbers: [1], live: [1] })
}

const outcome = (running: Promise<Reply>) =>
  running.catch((error) => {
    if (error instanceof ApiError) return error
    throw error
  })

const deletedBefore = (step: number, forms: FormsStore, form: StoredForm) => {
  let calls = 0
  return intercept(forms, async ({ proceed }) => {
    if (calls++ === step) await remove(forms, form)
    return proceed()
  })
}

class Killed extends Error {}

/** Fails before or after the store publishes, as if the process ended there. */
const killed = (kill: string, forms: FormsStore) =>
  intercept(forms, async ({ method, proceed }) => {
    if (method === 'publish' && kill === 'before') throw new Killed()
    const result = await proceed()
    if (method === 'publish' && kill === 'after') throw new Killed()
    return result
  })

/** What a kill between two steps leaves on an engine without transactions: a revision that is not live. */
const givenHalfPublished = async (forms: FormsStore, form: StoredForm): Promise<PublishForm> => {
  const command = commandFor(form)
  await remove(forms, form)
  const { organizationId, formId, publicId, version, replyCount } = form
  await forms.importForm({
    organizationId,
    formId,
    publicId,
    createTime: form.createTime.toISOString(),
    updateTime: form.updateTime.toISOString(),
    version,
    replyCount,
    draft: parseDraft(form),
    revisionNumber: 1,
    live: null,
    revisions: [
      {
        revisionId: randomUUID(),
        number: 1,
        commandId: command.commandId,
        createTime: now.toISOString(),
        form: JSON.parse(formToJson({ ...form, live: true }, testBaseUrl)),
      },
    ],
    replyIds: [],
  })
  return command
}

const anyKey = fc.constantFrom('a', 'b', 'c', 'gone')
const anyStep = fc.record({
  type: fc.constantFrom('start', 'end', 'text', 'text', 'text', 'payment'),
  branches: fc.array(
    fc.record({
      targetStepKey: anyKey,
      groups: fc.array(
        fc.array(
          anyKey.map((stepKey) => ({ negate: false, operator: 'is', stepKey, value: '' })),
          { maxLength: 2 },
        ),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 1 },
  ),
})
const anyLocale = fc.constantFrom('en', 'de', 'pt-BR')
const anyDraft: fc.Arbitrary<FormDraft> = fc
  .record({
    type: fc.constantFrom('structured', 'dynamic'),
    defaultMode: fc.constantFrom('guided', 'guided', 'conversational', 'voice'),
    voice: fc.record({ enabled: fc.boolean() }),
    steps: fc
      .array(anyStep, { maxLength: 3 })
      .map((steps) => steps.map((step, index) => ({ ...step, key: 'abc'[index]! }))),
    i18n: fc.record({
      sourceLocale: fc.constantFrom('en', 'en', 'de'),
      supportedLocales: fc.uniqueArray(anyLocale),
      translations: fc.dictionary(
        anyLocale,
        fc.record({ steps: fc.dictionary(anyKey, fc.constant({ options: [] })) }),
        { maxKeys: 1 },
      ),
    }),
  })
  .map(draftOf)
