import { randomUUIDv7 } from 'node:crypto'
import { ApiError } from '@fms/aip'
import type { EventType } from '@fms/contracts'
import { repeat } from '@fms/scheduling/repeat'
import { KeyedMutex, retryOnConflict, writeConflict } from '@fms/store-kit'
import { formConflict, formIdTaken, updateAborted } from '../errors.ts'
import type { FormRef, FormsStore, FormsStoreOptions, Imported } from '../forms-store.ts'
import { type ChangeContext, operatorContext } from '../identified-request.ts'
import { assertSameRecord, revisionsOf } from '../stored-form-record.ts'
import type { Change, ChangeOrigin, FoundDraft, FoundForm } from './change.ts'
import type { ChangeEngine } from './change-engine.ts'
import { createForm } from './create-form.ts'
import { deleteForm, purgeForm, undeleteForm } from './delete-form.ts'
import { exportForms } from './export-forms.ts'
import { importForm } from './import-form.ts'
import { publishForm, republishForm } from './publish-form.ts'
import { rejectRepeat } from './reject-repeat.ts'
import { unpublishForm } from './unpublish-form.ts'
import { updateForm } from './update-form.ts'

/** The outcome of a change; `change` is absent if there is nothing to store. */
interface Decision<T> {
  change?: Change | undefined
  result: T
}

/** What the methods of an engine find. */
interface Found {
  findForm: FoundForm
  findDraft: FoundDraft
}

/** The longest time between two clearings, in milliseconds. A failed one is repeated by the next. */
const clearMs = 60_000

/** Deleted forms that are purged at the same time once they are due. */
const maxDue = 100

/** Time of a form without events. */
const epoch = new Date(0)

/** The changes of the FormsStore port, on any engine (docs/decisions/0004-decide-then-apply.md). */
export abstract class FormChanges {
  readonly #engine: ChangeEngine
  readonly #deletedFormsDays: number
  readonly #onRecorded: (type: EventType) => void
  readonly #formMutex = new KeyedMutex()
  readonly #clearing: ReturnType<typeof repeat> | undefined

  constructor(
    engine: ChangeEngine,
    { readOnly, clears = !readOnly, deletedFormsDays = 0, onRecorded = () => {} }: FormsStoreOptions,
  ) {
    this.#engine = engine
    this.#deletedFormsDays = deletedFormsDays
    this.#onRecorded = onRecorded
    if (clears)
      this.#clearing = repeat(
        clearMs,
        (signal) => this.#clear(signal),
        () => {},
      )
  }

  /** The first attempt reads nothing: ids are rarely taken or used again, and the engine rejects the change then. */
  readonly create: FormsStore['create'] = (
    form,
    context = operatorContext,
    { idChosenByClient = false } = {},
  ) => {
    const { organizationId, formId } = form
    // The engine does not see a dry run.
    let isRepeated = context.validateOnly
    return this.#repeat({ organizationId, formRef: formId }, context, async () => {
      if (isRepeated) {
        await this.checkRequest({ organizationId }, context.request)
        const taken = await this.#engine.findTakenId(form)
        if (taken === 'publicId') return undefined
        if (taken) throw formIdTaken(form, taken === 'deletedFormId')
      }
      const lastTime = idChosenByClient && isRepeated ? await this.#engine.lastTimeOf(form) : epoch
      isRepeated = true
      const change = createForm(form, lastTime, !idChosenByClient, originOf(context))
      return (await this.#apply(change)) ? form : writeConflict
    })
  }

  readonly update: FormsStore['update'] = (ref, change, context, restored) =>
    this.#change('findDraft', ref, false, context, async (found, origin) => {
      const changed = await change(found.form)
      if (changed === found.form) return { result: changed }
      const { after, ...decided } = updateForm(found, changed, restored, origin)
      return { change: decided, result: after }
    })

  readonly delete: FormsStore['delete'] = async (ref, check, context) =>
    (await this.#change('findForm', ref, false, context, (found, origin) => {
      check(found)
      return { change: deleteForm(found, this.#deletedFormsDays, origin), result: true }
    })) ?? false

  readonly undelete: FormsStore['undelete'] = (ref, check, context) =>
    this.#change('findDraft', ref, true, context, async (found, origin) => {
      if (await this.#engine.isDue(found)) return { result: undefined }
      check(found.form)
      return { change: undeleteForm(found, origin), result: found.form }
    })

  readonly getDeleted: FormsStore['getDeleted'] = async (ref) =>
    (await this.#engine.findDraft(ref, true))?.form

  readonly purge: FormsStore['purge'] = async (ref, check, context) =>
    (await this.#change('findForm', ref, true, context, (found, origin) => {
      check(found)
      return { change: purgeForm(found, origin), result: true }
    })) ?? false

  readonly unpublish: FormsStore['unpublish'] = (ref, note, check, context) =>
    this.#change('findDraft', ref, false, context, (found, origin) => {
      check(found.form)
      return { change: unpublishForm(found, ref, note, origin), result: { ...found.form, live: false } }
    })

  readonly publish: FormsStore['publish'] = (
    ref,
    commandId,
    snapshot,
    beforeStoring,
    context = operatorContext,
    checkRepeat = () => {},
  ) => {
    return this.#repeat(ref, context, async () => {
      const [found, [stored]] = await Promise.all([
        this.#engine.findDraft(ref, false),
        this.#engine.findRevisions(ref.organizationId, [{ commandId }]),
      ])
      if (!found) return undefined
      if (stored && !stored.isHeld && !context.validateOnly) return this.#clearThenRepeat(stored)
      const earlier = stored?.isHeld ? stored : undefined
      if (earlier && earlier.formId !== found.formId) return 'elsewhere'
      const { form } = found
      if (earlier) {
        checkRepeat(earlier)
        const change = republishForm(found, earlier, originOf(context))
        if (!change) return form
        return (await this.#apply(change)) ? { ...form, live: true } : writeConflict
      }
      const taken = await snapshot(form, () => this.#engine.readLive(found))
      const change = publishForm(found, taken, { commandId, beforeStoring }, originOf(context))
      return (await this.#apply(change)) ? { ...form, live: true } : writeConflict
    })
  }

  readonly recordReplies: FormsStore['recordReplies'] = (replies) => {
    const ref = { organizationId: replies.organizationId, formRef: replies.formId }
    return this.#repeat(ref, operatorContext, () => this.#engine.recordReplies(replies))
  }

  readonly exportForms: FormsStore['exportForms'] = (organizationId) =>
    exportForms(this.#engine, organizationId)

  readonly importForm: FormsStore['importForm'] = (
    record,
    { recordsEvent = true, validateOnly = false } = {},
  ) => {
    const { organizationId, formId } = record
    const context = { ...operatorContext, validateOnly }
    const revisions = revisionsOf(record)
    return this.#repeat<Imported>({ organizationId, formRef: formId }, context, async () => {
      const stored = await this.#engine.readRecord(record)
      if (stored) return assertSameRecord(stored, record)
      const taken = await this.#engine.findTakenId(record)
      if (taken === 'publicId') throw formConflict(record, taken, record.publicId)
      if (taken) return writeConflict
      for (const found of await this.#engine.findRevisions(organizationId, revisions)) {
        if (!found.isHeld && validateOnly) continue
        if (!found.isHeld) return this.#clearThenRepeat(found)
        // Another import of the form was faster.
        if (found.organizationId === organizationId && found.formId === formId) return writeConflict
        const isSame = revisions.some(({ revisionId }) => revisionId === found.revisionId)
        const field = isSame ? 'revisionId' : 'commandId'
        throw formConflict(record, field, found[field])
      }
      const lastTime = await this.#engine.lastTimeOf(record)
      const change = importForm(record, lastTime, recordsEvent, originOf(context))
      return (await this.#apply(change)) ? 'imported' : writeConflict
    })
  }

  readonly checkRequest: FormsStore['checkRequest'] = async ({ organizationId, formRef }, request) => {
    const earlier = request && (await this.#engine.findRequest(organizationId, request))
    if (earlier) rejectRepeat(earlier, formRef, request)
  }

  protected async stopClearing(): Promise<void> {
    await this.#clearing?.stop()
  }

  #change<Find extends keyof Found, T>(
    find: Find,
    ref: FormRef,
    isDeleted: boolean,
    context: ChangeContext = operatorContext,
    decide: (found: Found[Find], origin: ChangeOrigin) => Decision<T> | Promise<Decision<T>>,
  ): Promise<T | undefined> {
    return this.#repeat<T | undefined>(ref, context, async () => {
      const found = (await this.#engine[find](ref, isDeleted)) as Found[Find] | undefined
      // After the form: if it is as a first attempt of the request has left it, that attempt is found.
      await this.checkRequest(ref, context.request)
      if (!found) return undefined
      const { change, result } = await decide(found, originOf(context))
      return !change || (await this.#apply(change)) ? result : writeConflict
    })
  }

  /** Repeats an attempt until it does not conflict with other processes, or ABORTED after 5 s. A dry run delays no change. */
  #repeat<T>(
    ref: FormRef,
    { validateOnly }: ChangeContext,
    attempt: () => Promise<T | typeof writeConflict>,
  ): Promise<T> {
    const repeated = () => retryOnConflict(attempt, () => updateAborted(ref))
    if (validateOnly) return repeated()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, repeated)
  }

  async #apply(change: Change): Promise<boolean> {
    if (change.context.validateOnly) {
      await this.#engine.checkRoom(change)
      return true
    }
    try {
      if (!(await this.#engine.apply(change))) return false
    } catch (error) {
      // An earlier attempt of the request, or another change of the form, may have used up the quota.
      if (isQuotaExceeded(error) && !(await this.#isAsFound(change))) return false
      throw error
    }
    if (change.event) this.#onRecorded(change.event.type)
    if ('remove' in change.form) this.#clearing?.wake()
    return true
  }

  async #isAsFound({ organizationId, formId, form, context: { request } }: Change): Promise<boolean> {
    if ('insert' in form) {
      if (request && (await this.#engine.findRequest(organizationId, request))) return false
      return !(await this.#engine.findTakenId(form.insert.form))
    }
    const { isDeleted, incarnation, changeTime } = form.found
    const now = await this.#engine.findForm({ organizationId, formRef: formId }, isDeleted)
    return now?.incarnation === incarnation && now.changeTime.getTime() === changeTime.getTime()
  }

  async #clearThenRepeat({ incarnation }: Pick<FoundForm, 'incarnation'>): Promise<typeof writeConflict> {
    await this.#engine.clearRemains(undefined, incarnation)
    return writeConflict
  }

  /** Purges the deleted forms whose time has come, and clears what forms that are gone have left. */
  async #clear(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const due = await this.#engine.findDue(maxDue)
        if (due.length === 0 || signal.aborted) break
        await Promise.all(due.map((ref) => this.#purgeDue(ref)))
      }
    } finally {
      await this.#engine.clearRemains(signal)
    }
  }

  /** A form may be restored and deleted again since it was found: then it is not due any more. */
  async #purgeDue(ref: FormRef): Promise<void> {
    await this.#change('findForm', ref, true, operatorContext, async (found, origin) => ({
      change: (await this.#engine.isDue(found)) ? purgeForm(found, origin) : undefined,
      result: true,
    }))
  }
}

const isQuotaExceeded = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'QUOTA_EXCEEDED'

const originOf = (context: ChangeContext): ChangeOrigin => ({
  context,
  time: new Date(),
  eventId: randomUUIDv7(),
})
