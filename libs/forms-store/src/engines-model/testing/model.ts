import { randomUUID } from 'node:crypto'
import { type FormEvent, type FormRecord, formatSequence, formPath, maxEventBytes } from '@fms/contracts'
import { recordDigest } from '@fms/store-kit'
import { metadataOf } from '../../contract/given.ts'
import { formConflict, formIdTaken, formNotLive, quotaExceeded, requestIdReused } from '../../errors.ts'
import { changedFields, eventBytesOf, type RecordedEvent } from '../../events/recorded-event.ts'
import type {
  ChangedForm,
  CreateOptions,
  FormMetadata,
  FormRef,
  FormsStore,
  Imported,
  ImportOptions,
  ListFormsQuery,
  Quota,
  Replies,
  RestoredRevision,
  StoredForm,
  StoredRevision,
  TakeSnapshot,
  Usage,
} from '../../forms-store.ts'
import { type ChangeContext, operatorContext, RequestReplay } from '../../identified-request.ts'
import { formETag } from '../../resource/form-to-json.ts'
import { parseDraft } from '../../stored-draft.ts'
import { fromFormRecord, revisionStateOf, revisionsOf, toFormRecord } from '../../stored-form-record.ts'
import { draftSummaryOf } from '../../stored-rows.ts'

/** The part of the port that the model has. Its lists have one page. */
export type ModelledStore = Pick<
  FormsStore,
  | 'create'
  | 'update'
  | 'delete'
  | 'undelete'
  | 'purge'
  | 'publish'
  | 'unpublish'
  | 'recordReplies'
  | 'importForm'
  | 'get'
  | 'getMetadata'
  | 'getDeleted'
  | 'list'
  | 'listSummaries'
  | 'listDeleted'
  | 'listRevisions'
  | 'getRevision'
  | 'findOrganizationOf'
  | 'usage'
  | 'exportForms'
> & { events: Pick<FormsStore['events'], 'sequence' | 'read'> }

/** A form, deleted or not, as an export has it. */
interface Held {
  record: FormRecord
  /** The time of its last change, in milliseconds since the epoch. */
  changeTime: number
}

interface ModelState {
  forms: Held[]
  /** Forms that are gone, with revisions that are not cleared. */
  gone: Held[]
  /** In the order of the changes; `id` is empty. */
  events: RecordedEvent[]
  /** By organization, method and `requestId`. */
  requests: Map<string, { formId: string; publicId: string; digest: string }>
}

const msPerDay = 24 * 60 * 60 * 1_000

const bytesOf = (json: string) => Buffer.byteLength(json)

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

/** What a forms store promises, on plain values: one change after another, with remains that stay until `clear`. */
export class FormsModel implements ModelledStore {
  /** How long a form that is deleted now can be restored. */
  deletedFormsDays = 0
  readonly #quota: Quota
  readonly #state: ModelState

  constructor(quota: Quota, state: ModelState = { forms: [], gone: [], events: [], requests: new Map() }) {
    this.#quota = quota
    this.#state = state
  }

  /** A model with the same state. */
  clone(): FormsModel {
    return Object.assign(new FormsModel(this.#quota, structuredClone(this.#state)), {
      deletedFormsDays: this.deletedFormsDays,
    })
  }

  /** Purges the deleted forms whose time has come, and forgets what forms have left. */
  async clear(): Promise<void> {
    for (const { record } of [...this.#state.forms]) {
      const { organizationId, formId, deletion } = record
      if (deletion && Date.parse(deletion.purgeTime) <= Date.now())
        await this.purge({ organizationId, formRef: formId }, () => {})
    }
    this.#state.gone = []
  }

  async create(
    form: StoredForm,
    context: ChangeContext = operatorContext,
    _: CreateOptions = {},
  ): Promise<StoredForm | undefined> {
    this.#rejectRepeat({ organizationId: form.organizationId }, context)
    const holder = this.#holderOf(form)
    if (holder) throw formIdTaken(form, holder.record.deletion !== undefined)
    if (this.#holderOfPublicId(form.publicId)) return undefined
    this.#checkQuota(form.organizationId, { forms: 1, bytes: bytesOf(form.draftJson) })
    const history = { revisionNumber: 0, liveNumber: 0, liveRevisionId: null, revisions: [], replyIds: [] }
    const held = { record: toFormRecord(form, history), changeTime: 0 }
    this.#state.forms.push(held)
    this.#record(held, 'form.created', context, { after: form, time: form.createTime })
    return form
  }

  async update(
    ref: FormRef,
    change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
    context: ChangeContext = operatorContext,
    restored?: RestoredRevision,
  ): Promise<StoredForm | undefined> {
    const found = this.#find(ref, false)
    this.#rejectRepeat(ref, context)
    if (!found) return undefined
    const before = fromFormRecord(found.record)
    const after = await change(before)
    if (after === before) return before
    const growth = bytesOf(after.draftJson) - bytesOf(before.draftJson)
    this.#checkQuota(ref.organizationId, { bytes: growth })
    const draft = parseDraft(after)
    const { version, updateTime } = after
    const fields = changedFields(found.record.draft, draft)
    Object.assign(found.record, { draft, version, updateTime: updateTime.toISOString() })
    this.#record(found, restored ? 'form.rolledBack' : 'form.updated', context, {
      before,
      after,
      time: updateTime,
      more: { ...(restored && this.#revisionMembers(found, restored)), fields },
    })
    return after
  }

  async delete(
    ref: FormRef,
    check: (current: FormMetadata) => void,
    context: ChangeContext = operatorContext,
  ): Promise<boolean> {
    const found = this.#find(ref, false)
    this.#rejectRepeat(ref, context)
    if (!found) return false
    const before = fromFormRecord(found.record)
    check(before)
    const days = this.deletedFormsDays
    const { actor } = context
    const deletion = {
      deleteTime: new Date().toISOString(),
      purgeTime: new Date(Date.now() + days * msPerDay).toISOString(),
      deleter: 'user' in actor ? actor.user : '',
    }
    const more = days > 0 ? { purgeTime: deletion.purgeTime } : {}
    this.#record(found, 'form.deleted', context, { before, more })
    if (days > 0) found.record.deletion = deletion
    else this.#remove(found)
    return true
  }

  async undelete(
    ref: FormRef,
    check: (deleted: StoredForm) => void,
    context: ChangeContext = operatorContext,
  ): Promise<StoredForm | undefined> {
    const found = this.#find(ref, true)
    this.#rejectRepeat(ref, context)
    if (!found) return undefined
    const form = fromFormRecord(found.record)
    check(form)
    this.#checkQuota(ref.organizationId, { forms: 1 })
    delete found.record.deletion
    this.#record(found, 'form.undeleted', context, { after: form })
    return form
  }

  async purge(
    ref: FormRef,
    check: (deleted: FormMetadata) => void,
    context: ChangeContext = operatorContext,
  ): Promise<boolean> {
    const found = this.#find(ref, true)
    this.#rejectRepeat(ref, context)
    if (!found) return false
    check(fromFormRecord(found.record))
    this.#record(found, 'form.purged', context, {})
    this.#remove(found)
    return true
  }

  async publish(
    ref: FormRef,
    commandId: string,
    snapshot: TakeSnapshot,
    _?: () => void,
    context: ChangeContext = operatorContext,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    const { organizationId } = ref
    const found = this.#find(ref, false)
    if (!found) return undefined
    this.#clearRemainsOf(organizationId, (revision) => revision.commandId === commandId)
    const { formId } = found.record
    const before = fromFormRecord(found.record)
    const after = { ...before, live: true }
    const { revisionNumber, liveNumber, liveRevisionId } = revisionStateOf(found.record)
    const held = this.#heldIn(organizationId).flatMap(({ record }) => revisionsOf(record))
    const earlier = held.find((revision) => revision.commandId === commandId)
    if (earlier && earlier.formId !== formId) return 'elsewhere'
    if (earlier && liveNumber >= earlier.number) return before
    const live = revisionsOf(found.record).find(({ revisionId }) => revisionId === liveRevisionId)
    const revision = earlier ?? {
      ...(await snapshot(before, async () => live)),
      organizationId,
      formId,
      commandId,
      number: revisionNumber + 1,
    }
    if (!earlier) this.#checkQuota(organizationId, { bytes: bytesOf(revision.formJson) })
    this.#setHistory(found, {
      revisionNumber: Math.max(revisionNumber, revision.number),
      liveNumber: revision.number,
      liveRevisionId: revision.revisionId,
      revisions: [...revisionsOf(found.record), ...(earlier ? [] : [revision])],
    })
    const more = this.#revisionMembers(found, revision)
    const time = earlier ? undefined : revision.createTime
    this.#record(found, 'form.published', context, { before, after, time, more })
    return after
  }

  async unpublish(
    ref: FormRef,
    note: string,
    check: (current: FormMetadata) => void,
    context: ChangeContext = operatorContext,
  ): Promise<StoredForm | undefined> {
    const found = this.#find(ref, false)
    this.#rejectRepeat(ref, context)
    if (!found) return undefined
    const before = fromFormRecord(found.record)
    check(before)
    const { live, revisionNumber } = found.record
    if (!live) throw formNotLive(ref)
    this.#setHistory(found, { liveNumber: revisionNumber, liveRevisionId: null })
    const after = { ...before, live: false }
    const more = { ...this.#revisionMembers(found, live), ...(note && { note }) }
    this.#record(found, 'form.unpublished', context, { before, after, more })
    return after
  }

  async recordReplies({ organizationId, formId, replyIds }: Replies): Promise<number> {
    const record = this.#holderOf({ organizationId, formId })?.record
    if (!record) return 0
    const added = [...new Set(replyIds)].filter((id) => !record.replyIds.includes(id))
    record.replyIds = [...record.replyIds, ...added].sort()
    record.replyCount += added.length
    return added.length
  }

  async importForm(record: FormRecord, { recordsEvent = true }: ImportOptions = {}): Promise<Imported> {
    const { organizationId, formId, publicId, deletion } = record
    const stored = this.#holderOf(record)
    if (stored && recordDigest(stored.record) === recordDigest(record)) return 'exists'
    if (stored) throw formConflict(record, 'formId', formId)
    if (this.#holderOfPublicId(publicId)) throw formConflict(record, 'publicId', publicId)
    for (const field of ['revisionId', 'commandId'] as const) {
      const values = revisionsOf(record).map((revision) => revision[field])
      const isSame = (revision: StoredRevision) => values.includes(revision[field])
      this.#clearRemainsOf(organizationId, isSame)
      const taken = this.#heldIn(organizationId)
        .flatMap((held) => revisionsOf(held.record))
        .find(isSame)
      if (taken) throw formConflict(record, field, taken[field])
    }
    const held = { record: structuredClone(record), changeTime: 0 }
    this.#state.forms.push(held)
    const after = deletion ? undefined : fromFormRecord(record)
    const more = deletion ? { purgeTime: deletion.purgeTime } : {}
    this.#record(held, 'form.imported', operatorContext, { after, more }, recordsEvent)
    return 'imported'
  }

  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const found = this.#find(ref, false)
    return found && fromFormRecord(found.record)
  }

  async getMetadata(ref: FormRef): Promise<FormMetadata | undefined> {
    const form = await this.get(ref)
    return form && metadataOf(form)
  }

  async getDeleted(ref: FormRef): Promise<StoredForm | undefined> {
    const found = this.#find(ref, true)
    return found && fromFormRecord(found.record)
  }

  async list({ organizationId, filter, orderBy }: ListFormsQuery) {
    const all = this.#heldIn(organizationId).filter(({ record }) => !record.deletion)
    const text = filter?.kind === 'contains' ? filter.text : ''
    const forms = all.map(({ record }) => fromFormRecord(record)).filter(({ name }) => name.includes(text))
    // Ties ascend with the default order, and with the last field otherwise.
    const [{ field, descending } = { field: 'updateTime', descending: true } as const] = orderBy
    const isTieDescending = orderBy.length > 0 && descending
    forms.sort(
      (a, b) => compare(a[field], b[field], descending) || compare(a.publicId, b.publicId, isTieDescending),
    )
    return { forms, totalSize: forms.length }
  }

  async listSummaries(query: ListFormsQuery) {
    const { forms, totalSize } = await this.list(query)
    return { forms: forms.map((form) => ({ ...metadataOf(form), ...draftSummaryOf(form) })), totalSize }
  }

  async listDeleted({ organizationId }: { organizationId: string }) {
    const deletedForms = this.#heldIn(organizationId).flatMap(({ record }) => {
      const { formId, publicId, draft, deletion } = record
      if (!deletion) return []
      const { deleter } = deletion
      const times = { deleteTime: new Date(deletion.deleteTime), purgeTime: new Date(deletion.purgeTime) }
      return [{ organizationId, formId, publicId, name: draft.name, deleter, ...times }]
    })
    deletedForms.sort(
      (a, b) => compare(a.deleteTime, b.deleteTime, true) || compare(a.formId, b.formId, false),
    )
    return { deletedForms, totalSize: deletedForms.length }
  }

  async listRevisions(ref: FormRef) {
    const found = this.#find(ref, false)
    if (!found) return undefined
    const live = found.record.live?.revisionId
    const revisions = revisionsOf(found.record)
      .reverse()
      .map((revision) => ({ revision, live: revision.revisionId === live }))
    return { revisions, totalSize: revisions.length }
  }

  async getRevision(ref: FormRef, revisionRef: string) {
    const { revisions = [] } = (await this.listRevisions(ref)) ?? {}
    const found =
      revisionRef === 'latest' ? revisions[0] : revisions.find((each) => revisionRef === 'live' && each.live)
    const { aiHandoff } = (await this.get(ref)) ?? {}
    return found && { ...found, revisionId: found.revision.revisionId, aiHandoff: aiHandoff! }
  }

  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const record = this.#holderOfPublicId(publicId)?.record
    return record?.deletion ? undefined : record?.organizationId
  }

  async usage(organizationId: string): Promise<Usage> {
    return this.#usage(organizationId)
  }

  async *exportForms(organizationId: string): AsyncGenerator<FormRecord> {
    const records = this.#heldIn(organizationId).map(({ record }) => structuredClone(record))
    records.sort((a, b) => compare(a.publicId, b.publicId, false))
    yield* records.filter(({ deletion }) => !deletion)
    yield* records.filter(({ deletion }) => deletion)
  }

  readonly events = {
    sequence: async () => 0,
    read: async ({ organizationId }: { organizationId: string }): Promise<FormEvent[]> => {
      return this.#eventsOf(organizationId).map(
        (event, index) => ({ ...event, sequence: formatSequence(index + 1) }) as FormEvent,
      )
    },
  }

  #eventsOf(organizationId: string): RecordedEvent[] {
    const source = `/v2/organizations/${organizationId}`
    return this.#state.events.filter((event) => event.source === source)
  }

  #heldIn(organizationId: string): Held[] {
    return this.#state.forms.filter(({ record }) => record.organizationId === organizationId)
  }

  #holderOf({ organizationId, formId }: { organizationId: string; formId: string }): Held | undefined {
    return this.#heldIn(organizationId).find(({ record }) => record.formId === formId)
  }

  #holderOfPublicId(publicId: string): Held | undefined {
    return this.#state.forms.find(({ record }) => record.publicId === publicId)
  }

  #find({ organizationId, formRef }: FormRef, isDeleted: boolean): Held | undefined {
    return this.#heldIn(organizationId).find(
      ({ record: { formId, publicId, deletion } }) =>
        (formId === formRef || publicId === formRef) && (deletion !== undefined) === isDeleted,
    )
  }

  #setHistory({ record }: Held, history: Partial<Parameters<typeof toFormRecord>[1]>): void {
    const { unpublishedNumber: _, ...rest } = record
    const now = { revisions: revisionsOf(record), replyIds: record.replyIds, ...revisionStateOf(record) }
    const changed = toFormRecord(fromFormRecord(rest as FormRecord), { ...now, ...history })
    delete record.unpublishedNumber
    Object.assign(record, changed)
  }

  #remove(held: Held): void {
    this.#state.forms.splice(this.#state.forms.indexOf(held), 1)
    this.#state.gone.push(held)
  }

  /** Clears each form that is gone and has such a revision. */
  #clearRemainsOf(organizationId: string, isTaken: (revision: StoredRevision) => boolean): void {
    this.#state.gone = this.#state.gone.filter(
      ({ record }) => record.organizationId !== organizationId || !revisionsOf(record).some(isTaken),
    )
  }

  #usage(organizationId: string): Usage {
    const records = this.#heldIn(organizationId).map(({ record }) => record)
    const gone = this.#state.gone.filter(({ record }) => record.organizationId === organizationId)
    const revisions = [...records, ...gone.map(({ record }) => record)].flatMap((record) => record.revisions)
    const documents = [...records.map(({ draft }) => draft), ...revisions.map(({ form }) => form)]
    const events = this.#eventsOf(organizationId).map((event) => ({ ...event, id: randomUUID() }))
    return {
      forms: records.filter(({ deletion }) => !deletion).length,
      bytes:
        sum(documents.map((document) => bytesOf(JSON.stringify(document)))) + sum(events.map(eventBytesOf)),
    }
  }

  /** @param bytes of drafts and revisions; undefined for a change that stores none. */
  #checkQuota(organizationId: string, { forms = 0, bytes = -1 }: Partial<Usage>): void {
    const used = this.#usage(organizationId)
    const limits = this.#quota
    if (forms > 0 && used.forms + forms > limits.forms)
      throw quotaExceeded(organizationId, 'forms', limits.forms, used.forms)
    if (bytes >= 0 && used.bytes + bytes + maxEventBytes > limits.bytes)
      throw quotaExceeded(organizationId, 'bytes', limits.bytes, used.bytes)
  }

  #rejectRepeat(
    { organizationId, formRef }: { organizationId: string; formRef?: string },
    { request }: ChangeContext,
  ): void {
    const earlier =
      request && this.#state.requests.get(`${organizationId}/${request.method}/${request.requestId}`)
    if (!earlier) return
    const { formId, publicId, digest } = earlier
    const isSameForm = formRef === undefined || formRef === formId || formRef === publicId
    if (!isSameForm || digest !== request.digest) throw requestIdReused(organizationId, request)
    throw new RequestReplay({ organizationId, formId, publicId }, request)
  }

  #revisionMembers({ record }: Held, { revisionId, number }: RestoredRevision) {
    return { revision: `${formPath(record)}/revisions/${revisionId}`, number }
  }

  /** Records the event of a change, and remembers its request. */
  #record(
    held: Held,
    type: string,
    context: ChangeContext,
    {
      before,
      after,
      time = new Date(),
      more,
    }: { before?: FormMetadata; after?: FormMetadata | undefined; time?: Date | undefined; more?: object },
    recordsEvent = true,
  ): void {
    const { organizationId, formId, publicId, draft } = held.record
    const path = formPath(held.record)
    const ofForm = this.#state.events.filter(({ subject }) => subject === path)
    const last = Math.max(held.changeTime, ...ofForm.map((event) => Date.parse(event.time)))
    held.changeTime = Math.max(time.getTime(), last + 1)
    const { actor, httpRequestId, request } = context
    if (!recordsEvent) return
    this.#state.events.push({
      specversion: '1.0',
      id: '',
      source: `/v2/organizations/${organizationId}`,
      type,
      subject: path,
      time: new Date(held.changeTime).toISOString(),
      datacontenttype: 'application/json',
      data: {
        form: path,
        publicId,
        name: draft.name,
        etag: after ? formETag(after) : '',
        previousEtag: before ? formETag(before) : '',
        actor,
        httpRequestId,
        ...more,
      },
    } as RecordedEvent)
    if (request) {
      const key = `${organizationId}/${request.method}/${request.requestId}`
      this.#state.requests.set(key, { formId, publicId, digest: request.digest })
    }
  }
}

const compare = (a: string | number | Date, b: typeof a, descending: boolean): number =>
  (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1)
