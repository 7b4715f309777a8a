import { createHash, randomUUID } from 'node:crypto'
import type { FormRecord } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { FormsStore, StoredForm } from '../forms-store.ts'
import {
  type ChangeContext,
  type ChangeMethod,
  type IdentifiedRequest,
  RequestReplay,
} from '../identified-request.ts'
import { logOf } from './events/log-of.ts'
import {
  atOnce,
  edited,
  exported,
  givenForm,
  newForm,
  type OpenStore,
  openStore,
  publish,
  refOf,
  snapshot,
} from './given.ts'
import { type EngineLimits, numberOfRuns } from './hostile-names.ts'

const allow = () => {}
const refuse = () => {
  throw new Error('Refused')
}

const digestOf = (parameters: unknown) =>
  createHash('sha256').update(JSON.stringify(parameters)).digest('hex')

const newRequest = (method: ChangeMethod, parameters: unknown = {}): IdentifiedRequest => ({
  requestId: randomUUID(),
  method,
  digest: digestOf(parameters),
})

const contextOf = (request: IdentifiedRequest): ChangeContext => ({
  actor: { user: `users/${randomUUID()}`, key: { id: randomUUID(), prefix: 'abcd1234' } },
  httpRequestId: '',
  request,
})

const reused = (organizationId: string, { requestId, method }: IdentifiedRequest) => ({
  status: 'ALREADY_EXISTS',
  reason: 'REQUEST_ID_REUSED',
  parts: { metadata: { organization: `organizations/${organizationId}`, requestId, method } },
})

/** Expects that the request is a repeat of a change of the form. */
const expectReplay = async ({ organizationId, formId, publicId }: StoredForm, repeat: Promise<unknown>) => {
  const error = await repeat.then(
    (value) => expect.fail(`carried out again: ${value}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RequestReplay)
  expect((error as RequestReplay).form).toEqual({ organizationId, formId, publicId })
}

/** A change that takes a request id, on a form that the method applies to. */
interface Method {
  given: (store: FormsStore) => Promise<StoredForm>
  change: (
    store: FormsStore,
    form: Pick<StoredForm, 'organizationId'> & { formRef: string },
    context: ChangeContext,
    check?: () => void,
  ) => Promise<unknown>
}

const givenLive = async (store: FormsStore) => {
  const form = await givenForm(store)
  await publish(store, form)
  return form
}

const givenDeleted = async (store: FormsStore) => {
  const form = await givenForm(store)
  await store.delete(refOf(form), allow)
  return form
}

const rename = (check = allow) => {
  return (current: StoredForm) => {
    check()
    return edited(current, { name: 'Renamed' })
  }
}

const methods: Record<Exclude<ChangeMethod, 'create'>, Method> = {
  update: {
    given: (store) => givenForm(store),
    change: (store, ref, context, check) => store.update(ref, rename(check), context),
  },
  rollback: {
    given: (store) => givenForm(store),
    change: (store, ref, context, check) =>
      store.update(ref, rename(check), context, { revisionId: randomUUID(), number: 1 }),
  },
  unpublish: {
    given: givenLive,
    change: (store, ref, context, check = allow) => store.unpublish(ref, '', check, context),
  },
  delete: {
    given: (store) => givenForm(store),
    change: (store, ref, context, check = allow) => store.delete(ref, check, context),
  },
  undelete: {
    given: givenDeleted,
    change: (store, ref, context, check = allow) => store.undelete(ref, check, context),
  },
  purge: {
    given: givenDeleted,
    change: (store, ref, context, check = allow) => store.purge(ref, check, context),
  },
}

/** Tests of changes with a request id (AIP-155): carried out once, however often they are sent. */
export const requestIdsContract = (open: OpenStore, limits: EngineLimits): void => {
  const numRuns = numberOfRuns(limits, 25, 2)
  const store = openStore(open, { deletedFormsDays: 30 })

  const typesOf = async (organizationId: string) =>
    (await logOf(store(), organizationId)).map(({ type }) => type)

  describe.each(Object.entries(methods))('a request: %s', (name, { given, change }) => {
    const method = name as ChangeMethod

    it('is carried out once, and a repeat names its form', async () => {
      const form = await given(store())
      const request = newRequest(method)
      const before = await typesOf(form.organizationId)
      const outcome = await change(store(), refOf(form), contextOf(request))
      expect(outcome).toBeTruthy()
      const records = await exported(store(), form.organizationId)

      for (const formRef of [form.formId, form.formId.toUpperCase(), form.publicId]) {
        const repeat = change(store(), { ...form, formRef }, contextOf(request), refuse)
        await expectReplay(form, repeat)
        await expectReplay(
          form,
          store().checkRequest({ organizationId: form.organizationId, formRef }, request),
        )
      }

      expect(await exported(store(), form.organizationId)).toEqual(records)
      expect(await typesOf(form.organizationId)).toHaveLength(before.length + 1)
    })

    it('is carried out once when it is sent many times concurrently', async () => {
      const form = await given(store())
      const request = newRequest(method)
      const before = await typesOf(form.organizationId)

      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => {
          const formRef = index % 2 === 0 ? form.formId : form.publicId
          return change(store(), { ...form, formRef }, contextOf(request))
        }),
      )

      const failures = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(failures).toHaveLength(19)
      for (const { reason } of failures) expect(reason).toBeInstanceOf(RequestReplay)
      expect(await typesOf(form.organizationId)).toHaveLength(before.length + 1)
    })

    it('is refused with the id of another one, and changes nothing', async () => {
      const form = await given(store())
      const { organizationId } = form
      const other = await givenForm(store(), { organizationId })
      const request = newRequest(method)
      await change(store(), refOf(form), contextOf(request))
      const records = await exported(store(), organizationId)
      const otherBody = { ...request, digest: digestOf('other') }
      const error = reused(organizationId, request)

      for (const [target, sent] of [
        [form, otherBody],
        [other, request],
        [newForm({ organizationId }), request],
      ] as const) {
        await expect(change(store(), refOf(target), contextOf(sent), refuse)).rejects.toMatchObject(error)
        const checked = store().checkRequest({ organizationId, formRef: target.formId }, sent)
        await expect(checked).rejects.toMatchObject(error)
      }

      expect(await exported(store(), organizationId)).toEqual(records)
    })

    it('does not affect other methods, organizations and ids', async () => {
      const [form, stranger] = [await given(store()), await given(store())]
      const { organizationId } = form
      const request = newRequest(method)
      await change(store(), refOf(form), contextOf(request))

      const another = method === 'update' ? 'delete' : 'update'
      await store().checkRequest({ organizationId, formRef: form.formId }, { ...request, method: another })
      await store().checkRequest(
        { organizationId, formRef: form.formId },
        { ...request, requestId: randomUUID() },
      )
      expect(await change(store(), refOf(stranger), contextOf(request))).toBeTruthy()
    })

    it('is not remembered when it was refused, or found no form', async () => {
      const form = await given(store())
      const request = newRequest(method)
      const refused = change(store(), refOf(form), contextOf(request), refuse)
      await expect(refused).rejects.toThrow('Refused')
      const missing = newForm({ organizationId: form.organizationId })
      expect(await change(store(), refOf(missing), contextOf(request))).toBeFalsy()

      await store().checkRequest({ organizationId: form.organizationId, formRef: form.formId }, request)
      expect(await change(store(), refOf(form), contextOf(request))).toBeTruthy()
    })
  })

  describe('a request: create', () => {
    const create = (form: StoredForm, request: IdentifiedRequest) =>
      store().create(form, contextOf(request), { idChosenByClient: false })

    it('makes one form, however often it is sent concurrently', async () => {
      const { organizationId } = newForm()
      const request = newRequest('create')

      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => create(newForm({ organizationId }), request)),
      )

      const [created, ...others] = outcomes.filter((outcome) => outcome.status === 'fulfilled')
      expect(others).toEqual([])
      const form = created!.value!
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') await expectReplay(form, Promise.reject(outcome.reason))
      }
      expect(await exported(store(), organizationId)).toMatchObject([{ formId: form.formId }])
      expect(await store().get(refOf(form))).toEqual(form)
      expect(await typesOf(organizationId)).toEqual(['form.created'])
    })

    it('names its form to a repeat, with an id of the client too, also once the form is gone', async () => {
      for (const idChosenByClient of [false, true]) {
        const form = newForm()
        const { organizationId, formId } = form
        const request = newRequest('create')
        const send = () =>
          store().create(
            newForm({ organizationId, ...(idChosenByClient && { formId }) }),
            contextOf(request),
            {
              idChosenByClient,
            },
          )
        const created = (await send())!

        await expectReplay(created, send())
        await expectReplay(created, store().checkRequest({ organizationId }, request))
        await store().delete(refOf(created), allow)
        await expectReplay(created, send())
        await store().purge(refOf(created), allow)
        await expectReplay(created, send())

        expect(await exported(store(), organizationId)).toEqual([])
        // The public id tells another form with the same id apart.
        const another = newForm({ organizationId, formId: created.formId })
        await store().create(another, undefined, { idChosenByClient: true })
        await expectReplay(created, send())
      }
    })

    it('is refused with the id of another one', async () => {
      const { organizationId } = newForm()
      const request = newRequest('create')
      await create(newForm({ organizationId }), request)

      const other = { ...request, digest: digestOf('other') }
      await expect(create(newForm({ organizationId }), other)).rejects.toMatchObject(
        reused(organizationId, other),
      )

      expect(await exported(store(), organizationId)).toHaveLength(1)
      expect(await create(newForm(), request)).toBeDefined()
    })

    it('is not remembered when it was refused', async () => {
      const form = await givenForm(store())
      const { organizationId, formId, publicId } = form
      const request = newRequest('create')
      const taken = store().create(newForm({ organizationId, formId }), contextOf(request), {
        idChosenByClient: true,
      })
      await expect(taken).rejects.toMatchObject({ reason: 'FORM_ID_TAKEN' })
      expect(await create(newForm({ organizationId, publicId }), request)).toBeUndefined()

      expect(await create(newForm({ organizationId }), request)).toBeDefined()
    })
  })

  it('replays an update before its change is called, and remembers none that changes nothing', async () => {
    const form = await givenForm(store())
    const request = newRequest('update')
    const change = vi.fn((current: StoredForm) => current)

    for (let times = 0; times < 2; times++) {
      expect(await store().update(refOf(form), change, contextOf(request))).toEqual(form)
    }
    expect(change).toHaveBeenCalledTimes(2)
    await store().update(refOf(form), rename(), contextOf(request))
    await expectReplay(form, store().update(refOf(form), change, contextOf(request)))

    expect(change).toHaveBeenCalledTimes(2)
  })

  it('replays a request whose form is gone', async () => {
    const form = await givenForm(store())
    const request = newRequest('update')
    await store().update(refOf(form), rename(), contextOf(request))
    await store().delete(refOf(form), allow)

    await expectReplay(form, store().update(refOf(form), rename(), contextOf(request)))
    await store().purge(refOf(form), allow)
    await expectReplay(form, store().update(refOf(form), rename(), contextOf(request)))
  })

  describe('any sequence of requests, each sent one to five times concurrently', () => {
    const kinds = [
      'create',
      'update',
      'rollback',
      'publish',
      'unpublish',
      'delete',
      'undelete',
      'purge',
    ] as const

    /** A request: what it does, to which form, how often it is sent. */
    interface Step {
      kind: (typeof kinds)[number]
      form: number
      copies: number
      requestId: string
    }

    const step: fc.Arbitrary<Omit<Step, 'requestId'>> = fc.record({
      kind: fc.constantFrom(...kinds),
      form: fc.nat(1),
      copies: fc.integer({ min: 1, max: 5 }),
    })

    /** Forms that are the same in each organization, but for their public ids. */
    const formIds = [randomUUID(), randomUUID()]

    /** Sends a request once. @returns whether it was carried out, now or before. */
    const send = async (organizationId: string, { kind, form, requestId }: Step): Promise<boolean> => {
      const formId = formIds[form]!
      const ref = { organizationId, formRef: formId }
      const context = contextOf({ requestId, method: kind as ChangeMethod, digest: digestOf(kind) })
      const renamed = (current: StoredForm) => edited(current, { name: `${kind} ${requestId}` })
      const changes: Record<Step['kind'], () => Promise<unknown>> = {
        create: () =>
          store().create(newForm({ organizationId, formId }), context, { idChosenByClient: true }),
        update: () => store().update(ref, renamed, context),
        rollback: () => store().update(ref, renamed, context, { revisionId: requestId, number: 1 }),
        publish: () => store().publish(ref, requestId, snapshot),
        unpublish: () => store().unpublish(ref, '', allow, context),
        delete: () => store().delete(ref, allow, context),
        undelete: () => store().undelete(ref, allow, context),
        purge: () => store().purge(ref, allow, context),
      }
      try {
        return Boolean(await changes[kind]())
      } catch (error) {
        if (error instanceof RequestReplay) return true
        expect((error as { reason?: string }).reason).toMatch(/^(FORM_ID_TAKEN|FORM_NOT_LIVE)$/)
        return false
      }
    }

    const withoutIds = ({ organizationId, publicId, revisions, live, ...record }: FormRecord) => ({
      ...record,
      live: live?.number,
      revisions: revisions.map(({ number, commandId, form }) => ({
        number,
        commandId,
        form: { ...form, path: '', publicId: '', publicUrl: '' },
      })),
      deletion: record.deletion !== undefined,
    })

    const stateOf = async (organizationId: string) => ({
      records: (await exported(store(), organizationId))
        .map(withoutIds)
        .toSorted((one, other) => (one.formId < other.formId ? -1 : 1)),
      // Events of different forms may have another order than their changes.
      log: (await logOf(store(), organizationId))
        .map(({ type, subject, data }) => ({
          type,
          subject: subject.replace(organizationId, ''),
          name: data.name,
        }))
        .toSorted((one, other) => one.subject.localeCompare(other.subject)),
    })

    it('leaves the store as if each had been sent once', async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (plan) => {
        const [repeating, reference] = [randomUUID(), randomUUID()]
        const done: Step[] = []
        const steps = plan.map((each) => ({ ...each, requestId: randomUUID() }))
        const creates = formIds.map(
          (_, form): Step => ({
            kind: 'create',
            form,
            copies: 3,
            requestId: randomUUID(),
          }),
        )
        for (const each of [...creates, ...steps]) {
          const outcomes = await atOnce(each.copies, () => send(repeating, each))
          const outcome = await send(reference, each)
          expect(outcomes).toEqual(outcomes.map(() => outcome))
          if (outcome && each.kind !== 'publish') done.push(each)
        }
        const state = await stateOf(repeating)
        expect(state).toEqual(await stateOf(reference))

        for (const each of done) expect(await send(repeating, each)).toBe(true)
        expect(await stateOf(repeating)).toEqual(state)
      })
      await fc.assert(property, { numRuns, endOnFailure: true })
    }, 180_000)
  })
}
