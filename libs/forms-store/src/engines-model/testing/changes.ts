import { randomUUID } from 'node:crypto'
import { ApiError } from '@fms/aip'
import type { FormRecord } from '@fms/contracts'
import fc from 'fast-check'
import { newForm, newPublicId } from '../../contract/given.ts'
import { formNotLive } from '../../errors.ts'
import type { FormRef, Snapshot, StoredForm } from '../../forms-store.ts'
import { type ChangeMethod, RequestReplay } from '../../identified-request.ts'
import { formToJson } from '../../resource/form-to-json.ts'
import { parseDraft, toStoredDraft } from '../../stored-draft.ts'
import type { ModelledStore } from './model.ts'

/** A call that changes a form. Numbers choose among the ids of a run. */
export interface FormChange {
  kind: keyof typeof calls
  organization: number
  form: number
  publicId: number
  /** Whether to name the form by its public id. */
  isByPublicId: boolean
  /** The command of a publish, or which kept record to import. */
  command: number
  /** Undefined for a change that is not remembered. */
  request: number | undefined
  /** Stands for the parameters of the request. */
  digest: number
  replies: number[]
  name: string
  /** Size of the draft beside the name. */
  size: number
  importAs: 'itself' | 'a copy' | 'renamed' | 'another form'
  isUser: boolean
}

/** The ids of a run, which are few, so that changes meet. */
export class RunIds {
  readonly organizations = times(2, randomUUID)
  /** Both organizations have forms with these ids. */
  readonly forms = times(3, randomUUID)
  readonly publicIds = times(5, newPublicId)
  readonly commands = times(4, randomUUID)
  readonly requests = times(3, randomUUID)
  readonly replies = times(5, randomUUID)
  readonly users = times(1, () => `users/${randomUUID()}`)
  readonly #revisions = new WeakMap<FormChange, string>()

  /** The id of the revision that a publish makes, however often it runs. */
  revisionOf(change: FormChange): string {
    const revisionId = this.#revisions.get(change) ?? randomUUID()
    this.#revisions.set(change, revisionId)
    return revisionId
  }
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}

const allow = () => {}

/** A call, and what it needs. */
interface Call {
  store: ModelledStore
  change: FormChange
  ids: RunIds
  /** The records that were kept for imports. */
  kept: readonly FormRecord[]
}

const refOf = ({ change, ids }: Call): FormRef => ({
  organizationId: ids.organizations[change.organization]!,
  formRef: change.isByPublicId ? ids.publicIds[change.publicId]! : ids.forms[change.form]!,
})

const contextOf = ({ change, ids }: Call, method?: ChangeMethod) => ({
  actor: change.isUser
    ? { user: ids.users[0]!, key: { id: ids.users[0]!.slice(6), prefix: 'abcd1234' } }
    : { operator: true as const },
  httpRequestId: change.name,
  ...(method &&
    change.request !== undefined && {
      request: { requestId: ids.requests[change.request]!, method, digest: `${change.digest}`.repeat(64) },
    }),
})

const edited = (current: StoredForm, { name, size }: FormChange): StoredForm => ({
  ...current,
  version: current.version + 1,
  updateTime: new Date(Math.max(Date.now(), current.updateTime.getTime() + 1)),
  ...toStoredDraft({ ...parseDraft(current), name, context: size > 0 ? ['x'.repeat(size)] : [] }),
})

const update = (call: Call, method: 'update' | 'rollback') => {
  const restored = { revisionId: call.ids.commands[0]!, number: call.change.command + 1 }
  return call.store.update(
    refOf(call),
    (current) => edited(current, call.change),
    contextOf(call, method),
    method === 'rollback' ? restored : undefined,
  )
}

const recordFor = ({ change, ids, kept }: Call): FormRecord | undefined => {
  const record = kept[change.command % kept.length]
  if (record && change.importAs === 'renamed')
    return { ...record, draft: { ...record.draft, name: change.name } }
  if (record && change.importAs === 'another form')
    return { ...record, formId: ids.forms[change.form]!, publicId: ids.publicIds[change.publicId]! }
  return record
}

const calls = {
  create: (call: Call) => {
    const { change, ids, store } = call
    const form = newForm({
      organizationId: ids.organizations[change.organization]!,
      formId: ids.forms[change.form]!,
      publicId: ids.publicIds[change.publicId]!,
      createTime: new Date(),
      updateTime: new Date(),
      draft: { name: change.name },
    })
    return store.create(form, contextOf(call, 'create'), { idChosenByClient: true })
  },
  update: (call: Call) => update(call, 'update'),
  rollback: (call: Call) => update(call, 'rollback'),
  keep: (call: Call) => call.store.update(refOf(call), (current) => current, contextOf(call, 'update')),
  refuse: (call: Call) => {
    const refuse = () => {
      throw formNotLive(refOf(call))
    }
    const context = contextOf(call)
    return [
      () => call.store.update(refOf(call), refuse, context),
      () => call.store.delete(refOf(call), refuse, context),
      () => call.store.undelete(refOf(call), refuse, context),
      () => call.store.purge(refOf(call), refuse, context),
      () => call.store.publish(refOf(call), call.ids.requests[0]!, refuse, undefined, context),
    ][call.change.publicId]!()
  },
  publish: (call: Call) => {
    const { change, ids } = call
    const snapshot = (current: StoredForm): Snapshot => ({
      revisionId: ids.revisionOf(change),
      createTime: new Date(),
      publisher: ids.users[0]!,
      note: change.name,
      formJson: formToJson({ ...current, live: true }, 'http://127.0.0.1:8080/f'),
    })
    const commandId = ids.commands[change.command]!
    return call.store.publish(refOf(call), commandId, snapshot, undefined, contextOf(call))
  },
  unpublish: (call: Call) =>
    call.store.unpublish(refOf(call), call.change.name, allow, contextOf(call, 'unpublish')),
  delete: (call: Call) => call.store.delete(refOf(call), allow, contextOf(call, 'delete')),
  undelete: (call: Call) => call.store.undelete(refOf(call), allow, contextOf(call, 'undelete')),
  purge: (call: Call) => call.store.purge(refOf(call), allow, contextOf(call, 'purge')),
  reply: (call: Call) =>
    call.store.recordReplies({
      organizationId: call.ids.organizations[call.change.organization]!,
      formId: call.ids.forms[call.change.form]!,
      replyIds: call.change.replies.map((reply) => call.ids.replies[reply]!),
    }),
  import: async (call: Call) => {
    const record = recordFor(call)
    return record && call.store.importForm(record, { recordsEvent: call.change.importAs !== 'a copy' })
  },
} satisfies Record<string, (call: Call) => Promise<unknown>>

const kinds = Object.keys(calls) as FormChange['kind'][]

/** Any change; the frequent ones more often. */
export const anyChange: fc.Arbitrary<FormChange> = fc.record({
  kind: fc.constantFrom(...kinds, 'create', 'create', 'update', 'publish', 'publish', 'delete', 'undelete'),
  // The other ones are there to be left alone.
  organization: fc.constantFrom(0, 0, 0, 1),
  form: fc.constantFrom(0, 0, 1, 2),
  publicId: fc.nat(4),
  isByPublicId: fc.constantFrom(false, false, true),
  command: fc.nat(3),
  request: fc.option(fc.nat(2), { nil: undefined }),
  digest: fc.constantFrom(0, 0, 1),
  replies: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
  name: fc.constantFrom('a', 'ab', 'b', 'ba', 'Größe 😀'),
  size: fc.constantFrom(0, 0, 300, 3_000),
  importAs: fc.constantFrom('itself', 'itself', 'a copy', 'renamed', 'another form'),
  isUser: fc.boolean(),
})

/** What a caller gets. */
export type Outcome = { value: unknown } | { replay: unknown } | { reason: string; metadata: unknown }

/** Makes a change. @returns its result or refusal. */
export const outcomeOf = async (call: Call): Promise<Outcome> => {
  try {
    return { value: await calls[call.change.kind](call) }
  } catch (error) {
    if (error instanceof RequestReplay) return { replay: error.form }
    if (!(error instanceof ApiError)) throw error
    return { reason: error.reason, metadata: error.parts.metadata }
  }
}
