import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Account, type ApiResponse, publishable, type System } from '../system.ts'
import { EventJournal, type VisibleForm } from './event-journal.ts'
import type { EventStream } from './event-stream.ts'
import { type Entry, PendingWrites, type Write } from './write.ts'

/** The outcomes of the requests of one phase. */
export interface Tally {
  requests: number
  /** Number of failures by status and reason, or `broken connection`. */
  failures: Map<string, number>
}

/** What the journal of a client and the system disagree on. */
export interface Verdict {
  /** Acknowledged writes that are missing. */
  lost: string[]
  /** Writes that took effect more than once, or that no client sent. */
  doubled: string[]
  /** Events whose order is not that of the changes. */
  outOfOrder: string[]
  /** Repeats of events in the stream, which its readers drop. */
  streamDuplicates: number
}

/** A form in a list or in a revision. */
interface Form {
  publicId: string
  name: string
  live: boolean
  steps: unknown[]
}

interface Revision {
  path: string
  alternateIds: string[]
  form: Form
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!

/** Number of forms that a client has at a time. */
const livingForms = 3

/** A client with this number of writes without an acknowledgement repeats them before it sends new ones. */
const maxPendingWrites = 4

/** How often a write is sent in parallel, by chance. */
const copies = [1, 1, 1, 2, 3]

/** How long after a fault the last event may appear in the log, in milliseconds. */
const recordedWithinMs = 30_000

/** Pause of a client after a failed request, in milliseconds. */
const pauseMs = 10

/** A client with its own forms. Keeps a journal of every response and compares it with the system. */
export class Client {
  readonly #system: Pick<System, 'call'>
  readonly #account: Account
  #entries: Entry[] = []
  /** Names of creates without a response: each may have created one form. */
  readonly #uncertainCreates = new Set<string>()
  readonly #pending = new PendingWrites()
  readonly #events = new EventJournal()
  /** Violations that reads found while the load ran. */
  #lost: string[] = []
  #doubled: string[] = []
  tally: Tally = { requests: 0, failures: new Map() }

  readonly #operations: ((entry: Entry) => Promise<boolean>)[]

  constructor(system: Pick<System, 'call'>, account: Account) {
    this.#system = system
    this.#account = account
    this.#operations = [
      this.#patch,
      this.#patch,
      this.#publish,
      this.#publish,
      this.#read,
      this.#readLive,
      () => this.#list(),
      this.#delete,
      this.#unpublish,
      this.#rollback,
      this.#undelete,
    ]
  }

  /**
   * Sends random requests until the signal is aborted: one at a time, but some writes several times in parallel.
   *
   * @param maxThinkMs the longest random pause after a request, in milliseconds. Default: as many as the system handles.
   */
  async run(signal: AbortSignal, maxThinkMs = 0): Promise<void> {
    while (!signal.aborted) {
      const isServed = await this.#sendAny()
      if (!isServed) await delay(pauseMs)
      else if (maxThinkMs > 0) await delay(Math.random() * maxThinkMs)
    }
  }

  #sendAny(): Promise<boolean> {
    const pending = this.#pending.repeatable()
    if (pending.length >= randomInt(1, maxPendingWrites + 1)) return this.#repeat(pick(pending))
    const living = this.#entries.filter(({ deletion }) => deletion === 'none')
    return living.length < livingForms ? this.#create() : pick(this.#operations).call(this, pick(living))
  }

  /** The outcomes since the last call. */
  takeTally(): Tally {
    const tally = this.tally
    this.tally = { requests: 0, failures: new Map() }
    return tally
  }

  /** Sends one request of each kind. @returns whether all succeeded. Deletes the form that it created. */
  async checkAllOperations(): Promise<boolean> {
    for (const write of this.#pending.inOrderOfRepeat()) if (!(await this.#repeat(write))) return false
    const create = await this.#create()
    const entry = this.#entries.at(-1)
    return (
      create &&
      !!entry &&
      (await this.#patch(entry)) &&
      (await this.#publish(entry)) &&
      (await this.#patch(entry)) &&
      (await this.#rollback(entry)) &&
      (await this.#unpublish(entry)) &&
      (await this.#read(entry)) &&
      (await this.#list()) &&
      (await this.#delete(entry)) &&
      (await this.#undelete(entry)) &&
      (await this.#delete(entry))
    )
  }

  /** Changes each of its forms. @returns how many could not be changed at the first attempt. */
  async changeForms(): Promise<number> {
    let failed = 0
    for (const entry of this.#entries.filter(({ deletion }) => deletion === 'none')) {
      if (!(await this.#patch(entry))) failed++
    }
    return failed
  }

  /** Sends one create. @returns the response; undefined when the connection broke. */
  async tryCreate(): Promise<ApiResponse | undefined> {
    const write = this.#newCreate()
    this.#pending.add(write)
    const response = await this.#sendWrite(write)
    this.#settle(write, [response])
    return response
  }

  /** A create, half of the time with an id that the client has chosen. */
  #newCreate(): Write {
    const name = `Form ${randomUUID()}`
    const formId = Math.random() < 0.5 ? randomUUID() : undefined
    this.#uncertainCreates.add(name)
    return this.#newWrite({
      method: 'POST',
      path: this.#account.forms,
      body: { form: publishable({ name }), formId },
      acknowledge: ({ body: { path, publicId } }) => {
        this.#uncertainCreates.delete(name)
        if (formId && !path.endsWith(formId)) this.#lost.push(`the id ${formId} of ${path}`)
        this.#events.acknowledge({ publicId, type: 'form.created', name })
        this.#entries.push({
          publicId,
          names: new Set([name]),
          sentNames: new Set([name]),
          requestIds: [],
          published: [],
          unpublishes: 0,
          undeletes: 0,
          live: false,
          deletion: 'none',
        })
      },
    })
  }

  /** Sends one list. @returns the response; undefined when the connection broke. */
  async tryList(): Promise<ApiResponse | undefined> {
    return this.#send('GET', '?pageSize=2')
  }

  /**
   * Compares the journal with the system. Repeats every write without an acknowledgement, and every publish; none of them may
   * take effect twice.
   *
   * @param stream compares it with the events, too: those of the log and those of the stream.
   */
  async check(stream?: EventStream): Promise<Verdict> {
    await this.#settlePending()
    const verdict: Verdict = { lost: this.#lost, doubled: this.#doubled, outOfOrder: [], streamDuplicates: 0 }
    this.#lost = []
    this.#doubled = []
    const entries = this.#entries
    for (const entry of entries) await this.#checkForm(entry, verdict)
    const listed = await this.#checkList(verdict)
    await this.#checkDeletedForms(verdict)
    const uncertain = new Set(listed.map(({ name }) => name))
    await this.#deleteUncertain(listed)
    await this.#purgeDeleted()
    if (stream) {
      const sent = new Set(entries.flatMap(({ sentNames }) => [...sentNames]))
      const wasSent = (name: string) =>
        sent.has(name) || uncertain.has(name) || this.#uncertainCreates.has(name)
      await this.#checkEvents(stream, listed, wasSent, verdict)
    }
    return verdict
  }

  async #checkEvents(
    stream: EventStream,
    listed: Form[],
    wasSent: (name: string) => boolean,
    verdict: Verdict,
  ): Promise<void> {
    const visible = new Map(listed.map((form) => [form.publicId, form]))
    const forms = this.#entries.map(({ publicId, published, unpublishes, undeletes }) => {
      const { name, live } = visible.get(publicId)!
      return { publicId, name, live, revisions: published.length, unpublishes, undeletes }
    })
    await this.#readEvents(forms, wasSent)
    const { missing, invented, outOfOrder } = this.#events.check(forms)
    verdict.lost.push(...missing.map((each) => `event: ${each}`))
    verdict.doubled.push(...invented.map((each) => `event: ${each}`))
    const streamed = await stream.readUntil(this.#account.organizationId, this.#events.lastSequence)
    verdict.outOfOrder.push(...outOfOrder, ...streamed.outOfOrder)
    verdict.streamDuplicates += streamed.duplicates
  }

  /** Reads new events by number, in pages of any size, until the journal is complete; at most half a minute. */
  async #readEvents(forms: VisibleForm[], wasSent: (name: string) => boolean): Promise<void> {
    const path = `/organizations/${this.#account.organizationId}/events`
    const deadline = performance.now() + recordedWithinMs
    for (;;) {
      const query = `afterSequence=${this.#events.lastSequence}&pageSize=${randomInt(1, 200)}`
      const { body } = await this.#callUntil('GET', `${path}?${query}`)
      this.#events.read(body.events, wasSent)
      if (body.events.length > 0) continue
      if (this.#events.isComplete(forms) || performance.now() > deadline) return
      await delay(200)
    }
  }

  /** Repeats the writes without an acknowledgement until each is executed or refused. */
  async #settlePending(): Promise<void> {
    for (const write of this.#pending.inOrderOfRepeat()) {
      const { method, path, body, entry, refusal } = write
      const statuses = [200, 404, ...(refusal === undefined ? [] : [refusal])]
      this.#pending.addRepeat(write)
      const response = await this.#callUntil(method, path, statuses, body)
      this.#settle(write, [response])
      const isGone = response.status === 404 && entry?.deletion === 'deleted'
      if (![200, refusal].includes(response.status) && !isGone)
        this.#lost.push(`repeat of ${method} ${path}: ${response.status} ${reasonOf(response)}`)
    }
    this.#pending.clear()
  }

  async #checkForm(entry: Entry, verdict: Verdict): Promise<void> {
    const { publicId, names, deletion } = entry
    const form = await this.#sendUntil('GET', `/${publicId}`, [200, 404])
    if (form.status === 404) {
      if (deletion === 'none') verdict.lost.push(`form ${publicId}`)
      return
    }
    if (deletion === 'deleted') verdict.lost.push(`delete of ${publicId}`)
    if (!names.has(form.body.name))
      verdict.lost.push(`patch of ${publicId}: ${form.body.name} is not of ${[...names]}`)
    if (!isComplete(form.body)) verdict.lost.push(`part of form ${publicId}`)
    if (entry.live !== undefined && entry.live !== form.body.live)
      verdict.lost.push(`${entry.live ? 'publish' : 'unpublish'} of ${publicId}: live is ${form.body.live}`)
    entry.live = form.body.live
    await this.#checkRevisions(entry, verdict)
  }

  async #checkRevisions(entry: Entry, verdict: Verdict): Promise<void> {
    const { publicId, requestIds, published, sentNames } = entry
    const revisions = () => this.#all<Revision>(`/${publicId}/revisions`, 'revisions', verdict)
    const before = await revisions()
    let found = 0
    // Publishes without a response may have created revisions in between.
    for (const { form } of before.toReversed()) if (published[found]?.has(form.name)) found++
    if (found < published.length) verdict.lost.push(`${published.length - found} publishes of ${publicId}`)
    for (const { path, form } of before) {
      if (!sentNames.has(form.name) || !isComplete(form)) verdict.lost.push(`content of ${path}`)
    }

    for (const requestId of requestIds) {
      await this.#sendUntil('POST', `/${publicId}/publish`, [200], { requestId })
      this.#events.acknowledge({ publicId, type: 'form.published' })
    }
    const after = await revisions()
    const surplus = after.length - requestIds.length
    if (surplus > 0) verdict.doubled.push(`${surplus} publishes of ${publicId}`)
    if (surplus < 0) verdict.lost.push(`${-surplus} repeated publishes of ${publicId}`)
    const live = after.filter(({ alternateIds }) => alternateIds.includes('live'))
    // Only a repeat that creates a revision makes the form live.
    entry.live ||= after.length > before.length
    const expected = entry.live ? after.slice(0, 1) : []
    if (live.length !== expected.length || live[0] !== expected[0])
      verdict.lost.push(
        `live of ${publicId}: it is on ${live.map(({ path }) => path)}, not on ${expected.map(({ path }) => path)}`,
      )
    entry.published = after.toReversed().map(({ form }) => new Set([form.name]))
  }

  /** Checks that the list has every form of the journal, with one of its names, and no other form. */
  async #checkList(verdict: Verdict): Promise<Form[]> {
    const forms = await this.#all<Form>('', 'forms', verdict)
    const listed = new Map(forms.map((form) => [form.publicId, form]))
    if (listed.size < forms.length) verdict.doubled.push(`${forms.length - listed.size} forms in the list`)
    for (const { publicId, names, deletion } of this.#entries) {
      const form = listed.get(publicId)
      listed.delete(publicId)
      if (!form && deletion === 'none') verdict.lost.push(`form ${publicId} in the list`)
      if (form && deletion === 'deleted') verdict.lost.push(`delete of ${publicId} in the list`)
      if (form && !names.has(form.name)) verdict.lost.push(`patch of ${publicId} in the list`)
    }
    const uncertain = new Set(this.#uncertainCreates)
    for (const { publicId, name } of listed.values())
      if (!uncertain.delete(name)) verdict.doubled.push(`create of ${name}, as ${publicId}`)
    return forms
  }

  /** Checks that the list of deleted forms has every deleted form of the journal, and none that exists. */
  async #checkDeletedForms(verdict: Verdict): Promise<void> {
    const { deletedForms } = (await this.#callUntil('GET', `${this.#deletedForms}?pageSize=1000`)).body
    const names = new Map<string, string>(
      deletedForms.map(({ publicId, name }: Form) => [publicId, name] as const),
    )
    for (const { publicId, names: possible, deletion } of this.#entries) {
      const name = names.get(publicId)
      if (deletion === 'none' && name !== undefined)
        verdict.doubled.push(`${publicId}, which exists, among the deleted forms`)
      if (deletion === 'deleted' && (name === undefined || !possible.has(name)))
        verdict.lost.push(`${publicId} among the deleted forms: ${name} is not of ${[...possible]}`)
    }
  }

  /** Purges the deleted forms, which would slow down the engine. */
  async #purgeDeleted(): Promise<void> {
    const { deletedForms } = (await this.#callUntil('GET', `${this.#deletedForms}?pageSize=1000`)).body
    for (const { publicId } of deletedForms) {
      await this.#callUntil('DELETE', `${this.#deletedForms}/${publicId}?requestId=${randomUUID()}`)
      this.#events.acknowledge({ publicId, type: 'form.purged' })
    }
  }

  /** The path of the list of deleted forms. */
  get #deletedForms(): string {
    return `/organizations/${this.#account.organizationId}/deletedForms`
  }

  /** Deletes all but a few forms whose state is certain, so that the next fault also affects existing forms. */
  async #deleteUncertain(listed: Form[]): Promise<void> {
    const existing = new Set(listed.map(({ publicId }) => publicId))
    const kept = this.#entries
      .filter(({ publicId, deletion }) => deletion === 'none' && existing.has(publicId))
      .slice(0, livingForms)
    const ids = new Set(kept.map(({ publicId }) => publicId))
    for (const { publicId } of listed) {
      if (ids.has(publicId)) continue
      await this.#sendUntil('DELETE', `/${publicId}`, [200, 404])
      this.#events.acknowledge({ publicId, type: 'form.deleted' })
    }
    this.#entries = kept
    // The others may still be in flight on a busy machine, and create their form before a later check.
    for (const { name } of listed) this.#uncertainCreates.delete(name)
  }

  /** Reads every page of a list and checks `totalSize`. */
  async #all<Item>(path: string, member: string, verdict: Verdict): Promise<Item[]> {
    // secantusdb, unlike MongoDB, does not read the parts of a total in one snapshot: a second reading has to be right.
    for (let isRepeated = false; ; isRepeated = true) {
      const { items, totalSize } = await this.#readAll<Item>(path, member)
      if (totalSize === items.length) return items
      if (!isRepeated) continue
      verdict.lost.push(`totalSize ${totalSize} of ${items.length} ${member}`)
      return items
    }
  }

  async #readAll<Item>(path: string, member: string): Promise<{ items: Item[]; totalSize: number }> {
    const items: Item[] = []
    for (let pageToken = ''; ; ) {
      const { body } = await this.#sendUntil('GET', `${path}?pageSize=20&pageToken=${pageToken}`)
      items.push(...body[member])
      pageToken = body.nextPageToken
      if (!pageToken) return { items, totalSize: body.totalSize }
    }
  }

  #create(): Promise<boolean> {
    return this.#write(this.#newCreate())
  }

  #patch(entry: Entry): Promise<boolean> {
    const { publicId } = entry
    const name = `Form ${randomUUID()}`
    entry.sentNames.add(name)
    const write = this.#newWrite({
      method: 'PATCH',
      path: `${this.#account.forms}/${publicId}`,
      body: { form: { name } },
      entry,
      names: new Set([name]),
      acknowledge: ({ headers, body }) => {
        if (!isReplay(headers) && body.name !== name) this.#lost.push(`patch of ${publicId} to ${name}`)
        this.#settleName(entry, body.name)
        this.#events.acknowledge({ publicId, type: 'form.updated', name })
      },
    })
    return this.#write(write)
  }

  async #publish(entry: Entry): Promise<boolean> {
    const requestId = randomUUID()
    entry.requestIds.push(requestId)
    const names = new Set(entry.names)
    entry.live = undefined
    const response = await this.#send('POST', `/${entry.publicId}/publish`, { requestId })
    if (response?.status !== 200) return false
    entry.published.push(names)
    this.#settleLive(entry, true)
    this.#events.acknowledge({ publicId: entry.publicId, type: 'form.published' })
    return true
  }

  /** Takes a form down that is live. Otherwise reads it. */
  async #unpublish(entry: Entry): Promise<boolean> {
    if (!entry.live) return this.#read(entry)
    const { publicId } = entry
    entry.live = undefined
    const write = this.#newWrite({
      method: 'POST',
      path: `${this.#account.forms}/${publicId}/unpublish`,
      body: {},
      entry,
      refusal: 400,
      acknowledge: ({ body }) => {
        entry.unpublishes++
        this.#settleLive(entry, body.live)
        this.#events.acknowledge({ publicId, type: 'form.unpublished' })
      },
    })
    return this.#write(write)
  }

  /**
   * Rolls the draft back to the live revision. Reads a form that may not be live. Sent once at a time: the service does not
   * remember a rollback that changes nothing.
   */
  async #rollback(entry: Entry): Promise<boolean> {
    if (!entry.live) return this.#read(entry)
    const { publicId } = entry
    const before = new Set(entry.names)
    const write = this.#newWrite({
      method: 'POST',
      path: `${this.#account.forms}/${publicId}/revisions/live/rollback`,
      body: {},
      entry,
      // While it is without an acknowledgement, other revisions may become live.
      names: entry.sentNames,
      refusal: 404,
      acknowledge: ({ headers, body: { name } }, isRepeat) => {
        // A repeat rolls back to the revision that is live by then.
        const names = isReplay(headers) ? entry.names : liveNamesOf(entry)
        if (!names.has(name)) this.#lost.push(`rollback of ${publicId}: ${name} is not of ${[...names]}`)
        this.#settleName(entry, name)
        if (!isRepeat && !before.has(name))
          this.#events.acknowledge({ publicId, type: 'form.rolledBack', name })
      },
    })
    return this.#write(write, 1)
  }

  #delete(entry: Entry): Promise<boolean> {
    const { publicId } = entry
    entry.deletion = 'delete sent'
    const write = this.#newWrite({
      method: 'DELETE',
      path: `${this.#account.forms}/${publicId}`,
      entry,
      isDeletion: true,
      acknowledge: () => {
        entry.deletion = 'deleted'
        this.#events.acknowledge({ publicId, type: 'form.deleted' })
      },
    })
    return this.#write(write)
  }

  /** Restores a form that was deleted. Without one, reads the given form. */
  async #undelete(living: Entry): Promise<boolean> {
    const deleted = this.#entries.filter(({ deletion }) => deletion === 'deleted')
    if (deleted.length === 0) return this.#read(living)
    const entry = living.deletion === 'deleted' ? living : pick(deleted)
    const { publicId } = entry
    entry.deletion = 'undelete sent'
    const write = this.#newWrite({
      method: 'POST',
      path: `${this.#deletedForms}/${publicId}/undelete`,
      body: {},
      entry,
      isDeletion: true,
      acknowledge: ({ body: { name, live } }) => {
        entry.deletion = 'none'
        entry.undeletes++
        if (!entry.names.has(name)) this.#lost.push(`draft of ${publicId}, which was restored: ${name}`)
        if (entry.live !== undefined && entry.live !== live)
          this.#lost.push(`live of ${publicId}, which was restored: ${live}`)
        this.#settleName(entry, name)
        this.#events.acknowledge({ publicId, type: 'form.undeleted' })
      },
    })
    return this.#write(write)
  }

  /** Adds the `requestId`: to the body, or to the query of a request without a body. */
  #newWrite(write: Write): Write {
    const { path, body, entry, names = [] } = write
    for (const name of names) entry?.names.add(name)
    const requestId = randomUUID()
    return body
      ? { ...write, body: { ...body, requestId } }
      : { ...write, path: `${path}?requestId=${requestId}` }
  }

  /** Sends a write, in parallel if more than once. @returns whether it was acknowledged. */
  async #write(write: Write, times = pick(copies)): Promise<boolean> {
    this.#pending.add(write)
    const sent = Array.from({ length: times }, () => this.#sendWrite(write))
    return this.#settle(write, await Promise.all(sent))
  }

  /** Sends a write again that was not acknowledged. @returns whether its outcome is known now. */
  async #repeat(write: Write): Promise<boolean> {
    this.#pending.addRepeat(write)
    return this.#settle(write, [await this.#sendWrite(write)])
  }

  #sendWrite(write: Write): Promise<ApiResponse | undefined> {
    return this.#sendTo(write.method, write.path, write.body, write.refusal)
  }

  #settle(write: Write, responses: (ApiResponse | undefined)[]): boolean {
    const successes = responses.filter((response) => response?.status === 200)
    if (successes.filter((response) => !isReplay(response!.headers)).length > 1)
      this.#doubled.push(`${write.method} ${write.path}, executed by several requests in parallel`)
    const [done] = successes
    const isRefused = responses.some((response) => response && response.status === write.refusal)
    if (!done && !isRefused) return false
    const isRepeat = this.#pending.settle(write)
    if (done) write.acknowledge(done, isRepeat)
    return true
  }

  /** Notes the name of the draft. Other writes may still change it. */
  #settleName(entry: Entry, name: string): void {
    entry.names = new Set([name, ...this.#pending.namesOf(entry)])
  }

  /** Notes whether the form is live, unless other writes may still change it. */
  #settleLive(entry: Entry, live: boolean): void {
    const isCertain = entry.published.length === entry.requestIds.length && !this.#pending.hasUnpublish(entry)
    if (isCertain) entry.live = live
  }

  async #read({ publicId, names }: Entry): Promise<boolean> {
    const response = await this.#send('GET', `/${publicId}`)
    if (response?.status === 404) this.#lost.push(`form ${publicId}, while it was read`)
    if (response?.status === 200 && !names.has(response.body.name))
      this.#lost.push(`patch of ${publicId}, while it was read`)
    return response?.status === 200
  }

  /** Reads the live revision, or the draft of a form that may not be live. */
  async #readLive(entry: Entry): Promise<boolean> {
    const { publicId, published } = entry
    if (published.length === 0 || !entry.live) return this.#read(entry)
    const names = liveNamesOf(entry)
    const response = await this.#send('GET', `/${publicId}/revisions/live`)
    if (response?.status === 404) this.#lost.push(`live of ${publicId}, while it was read`)
    if (response?.status === 200 && !names.has(response.body.form.name))
      this.#lost.push(`publish of ${publicId}, while live was read`)
    return response?.status === 200
  }

  /** Reads the first page of the list and the one after it, possibly from another instance. */
  async #list(isRepeated = false): Promise<boolean> {
    const response = await this.tryList()
    if (response?.status !== 200) return false
    const { nextPageToken } = response.body
    const next = nextPageToken && (await this.#send('GET', `?pageSize=2&pageToken=${nextPageToken}`))
    if (nextPageToken && next?.status !== 200) return false
    const count = (deletion: Entry['deletion']) =>
      this.#entries.filter((entry) => entry.deletion === deletion).length
    const least = count('none')
    const most = least + count('delete sent') + count('undelete sent') + this.#uncertainCreates.size
    const { totalSize } = response.body
    const isWrong = totalSize < least || totalSize > most
    // As in `#all`.
    if (isWrong && !isRepeated) return this.#list(true)
    if (isWrong) this.#lost.push(`totalSize, while it was read: ${totalSize} and not ${least} to ${most}`)
    return true
  }

  /** Sends a request once and counts its outcome. @returns undefined when the connection broke. */
  #send(method: string, path: string, body?: object): Promise<ApiResponse | undefined> {
    return this.#sendTo(method, `${this.#account.forms}${path}`, body)
  }

  /** @param refusal a status that is no failure. */
  async #sendTo(
    method: string,
    path: string,
    body?: object,
    refusal?: number,
  ): Promise<ApiResponse | undefined> {
    this.tally.requests++
    const response = await this.#call(method, path, body)
    if (response?.status !== 200 && (!response || response.status !== refusal)) {
      const failure = response ? `${response.status} ${reasonOf(response)}` : 'broken connection'
      this.tally.failures.set(failure, (this.tally.failures.get(failure) ?? 0) + 1)
    }
    return response
  }

  /** Repeats a request about the forms until its response has one of the statuses. */
  #sendUntil(method: string, path: string, statuses = [200], body?: object): Promise<ApiResponse> {
    return this.#callUntil(method, `${this.#account.forms}${path}`, statuses, body)
  }

  async #callUntil(method: string, path: string, statuses = [200], body?: object): Promise<ApiResponse> {
    for (let tries = 0; ; tries++) {
      const response = await this.#call(method, path, body)
      if (response && statuses.includes(response.status)) return response
      if (tries > 100)
        throw new Error(`${method} ${path} returned ${response?.status} ${JSON.stringify(response?.body)}`)
      await delay(100)
    }
  }

  #call(method: string, path: string, body?: object): Promise<ApiResponse | undefined> {
    return this.#system.call(this.#account, method, path, body).catch((error) => {
      // Only network errors are expected. A response that does not match the OpenAPI document is a defect.
      if (error instanceof TypeError) return undefined
      throw error
    })
  }
}

/** The names that the live revision of a form may have. */
const liveNamesOf = ({ published, requestIds, sentNames }: Entry): Set<string> =>
  (published.length === requestIds.length && published.at(-1)) || sentNames

/** Whether the write was executed before. */
const isReplay = (headers: Headers) => headers.get('x-request-replayed') === 'true'

/** Whether a form has a name and all steps. */
const isComplete = ({ name, steps }: Form) => !!name && steps.length === publishable().steps.length

const reasonOf = ({ body }: ApiResponse): string =>
  body?.error?.details?.find((detail: { reason?: string }) => detail.reason)?.reason ?? 'without a reason'
