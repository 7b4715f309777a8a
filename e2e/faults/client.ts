import { randomUUID } from 'node:crypto'
import type { FormsStore } from '@fms/forms-store'
import { type Account, type Answer, publishable, type System } from '../system.ts'

/** What a client knows of one form: what was acknowledged, and what was sent without an answer. */
interface Entry {
  publicId: string
  /** Names that the draft may have: the last acknowledged one, and those sent since without an acknowledgement. */
  names: Set<string>
  /** As the last acknowledged change said. */
  updateTime: string
  /** By `requestId`, in the order in which they were sent. */
  publishes: Map<string, Publish>
  deletion: 'none' | 'sent' | 'acknowledged'
}

interface Publish {
  acknowledged: boolean
  /** Names that the revision may have. */
  names: Set<string>
}

const kinds = ['create', 'patch', 'delete', 'read', 'list', 'publish'] as const
type Kind = (typeof kinds)[number]

/** What happened to the requests of one phase. */
export interface Tally {
  requests: number
  byKind: Record<Kind, number>
  /** Answers other than success; `gone` in place of a status where the connection broke. */
  failures: { kind: Kind; status: string; reason: string }[]
}

const emptyTally = (): Tally => ({
  requests: 0,
  byKind: Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>,
  failures: [],
})

export interface Verdict {
  /** Acknowledged writes that are not there, or not whole, or not as they were written. */
  lost: string[]
  /** Writes that happened more than once. */
  doubled: string[]
}

interface RevisionOfApi {
  path: string
  alternateIds: string[]
  form: { name: string; steps: unknown[] }
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!

const stepCount = publishable().steps.length

/** One caller with an organization of its own, which keeps a journal of every answer and can say what must be true. */
export class Client {
  readonly #system: Pick<System, 'call'>
  readonly #account: Account
  readonly #entries: Entry[] = []
  /** Names of creates that got no answer: each may have made one form. */
  readonly #uncertainCreates = new Set<string>()
  readonly tally = emptyTally()

  /** @param account nobody else may change the forms of its organization. */
  constructor(system: Pick<System, 'call'>, account: Account) {
    this.#system = system
    this.#account = account
  }

  /** Sends one random request after the other until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const living = this.#entries.filter(({ deletion }) => deletion === 'none')
      if (living.length < 3) await this.#create()
      else
        await pick([this.#patch, this.#patch, this.#publish, this.#read, this.#list, this.#delete]).call(
          this,
          pick(living),
        )
    }
  }

  /** Whether each kind of request succeeds just now. */
  async works(): Promise<boolean> {
    const create = await this.#create()
    const entry = this.#entries.at(-1)
    return (
      create &&
      !!entry &&
      (await this.#patch(entry)) &&
      (await this.#publish(entry)) &&
      (await this.#read(entry))
    )
  }

  /** Sends one request of a kind, about the latest form. */
  async attempt(kind: 'create' | 'patch' | 'read' | 'list'): Promise<{ status: number; reason?: string }> {
    const failed = this.tally.failures.length
    const send = { create: this.#create, patch: this.#patch, read: this.#read, list: this.#list }[kind]
    if (await send.call(this, this.#entries.at(-1)!)) return { status: 200 }
    const { status, reason } = this.tally.failures[failed]!
    return { status: Number(status), reason }
  }

  /**
   * Compares the journal with the system. Repeats every publish, which must change nothing that was done.
   *
   * @param store the same as the services', for what the API does not tell.
   */
  async check(store: FormsStore): Promise<Verdict> {
    const verdict: Verdict = { lost: [], doubled: [] }
    for (const entry of this.#entries) await this.#checkForm(entry, store, verdict)
    await this.#checkLists(verdict)
    return verdict
  }

  async #checkForm(entry: Entry, store: FormsStore, { lost, doubled }: Verdict): Promise<void> {
    const { publicId, names, publishes, deletion, updateTime } = entry
    const form = await this.#demand('GET', `/${publicId}`, [200, 404])
    if (form.status === 404) {
      if (deletion === 'none') lost.push(`form ${publicId}`)
      // It may have been there a moment ago: what was sent without an answer may still have come through.
      entry.deletion = 'acknowledged'
      return
    }
    if (deletion === 'acknowledged') lost.push(`delete of ${publicId}`)
    if (!names.has(form.body.name))
      lost.push(`patch of ${publicId}: ${form.body.name} is not of ${[...names]}`)
    if (form.body.updateTime < updateTime)
      lost.push(`updateTime of ${publicId}: ${form.body.updateTime} is before ${updateTime}`)
    if (form.body.steps.length !== stepCount) lost.push(`half of ${publicId}`)
    if (publishes.size > 0) await this.#checkRevisions(entry, store, { lost, doubled })
  }

  async #checkRevisions(
    { publicId, publishes, names }: Entry,
    store: FormsStore,
    { lost, doubled }: Verdict,
  ): Promise<void> {
    const revisions = async () => (await this.#demand('GET', `/${publicId}/revisions?pageSize=1000`)).body
    const before = await revisions()
    const acknowledged = [...publishes.values()].filter((publish) => publish.acknowledged)
    if (before.totalSize < acknowledged.length)
      lost.push(`${acknowledged.length - before.totalSize} publishes of ${publicId}`)

    for (const [requestId, publish] of publishes) {
      if (!publish.acknowledged) for (const name of names) publish.names.add(name)
      await this.#demand('POST', `/${publicId}/publish`, [200], { requestId })
    }
    const after = await revisions()
    if (after.totalSize > publishes.size)
      doubled.push(`${after.totalSize - publishes.size} publishes of ${publicId}`)
    if (after.totalSize < publishes.size)
      lost.push(`${publishes.size - after.totalSize} repeated publishes of ${publicId}`)
    await this.#checkContents(publicId, publishes, store, lost)
    await this.#checkLive(publicId, after.revisions, lost)
  }

  /** Each publish has the revision that it asked for, under a number of its own. */
  async #checkContents(
    publicId: string,
    publishes: Map<string, Publish>,
    store: FormsStore,
    lost: string[],
  ): Promise<void> {
    const numbers: number[] = []
    for (const [requestId, { acknowledged, names }] of publishes) {
      const revision = await store.findRevisionOfCommand(this.#account.organizationId, requestId)
      if (!revision) {
        lost.push(`publish ${requestId} of ${publicId}`)
        continue
      }
      if (acknowledged) numbers.push(revision.number)
      if (!names.has(revision.form.name))
        lost.push(`content of publish ${requestId}: ${revision.form.name} is not of ${[...names]}`)
    }
    if (numbers.some((number, index) => index > 0 && number <= numbers[index - 1]!))
      lost.push(`order of the publishes of ${publicId}: ${numbers}`)
  }

  async #checkLive(publicId: string, revisions: RevisionOfApi[], lost: string[]): Promise<void> {
    const live = (await this.#demand('GET', `/${publicId}/revisions/live`)).body as RevisionOfApi
    if (live.path !== revisions[0]?.path) lost.push(`live of ${publicId} is not its newest revision`)
    if (revisions.filter(({ alternateIds }) => alternateIds.includes('live')).length !== 1)
      lost.push(`live of ${publicId} is not one revision`)
  }

  /** The list has what must be there once, and nothing but what may be there. */
  async #checkLists({ lost, doubled }: Verdict): Promise<void> {
    const listed: { name: string; publicId: string; steps: unknown[] }[] = []
    let pageToken = ''
    let totalSize = 0
    do {
      const query = `?pageSize=1000&orderBy=createTime&pageToken=${encodeURIComponent(pageToken)}`
      const { body } = await this.#demand('GET', query)
      listed.push(...body.forms)
      ;({ totalSize } = body)
      pageToken = body.nextPageToken
    } while (pageToken)

    if (totalSize !== listed.length) lost.push(`totalSize is ${totalSize}, the list has ${listed.length}`)
    const ids = new Set(listed.map(({ publicId }) => publicId))
    if (ids.size < listed.length) doubled.push(`${listed.length - ids.size} forms of the list`)
    const entries = new Map(this.#entries.map((entry) => [entry.publicId, entry]))
    for (const { publicId, deletion } of this.#entries) {
      if (deletion === 'none' && !ids.has(publicId)) lost.push(`form ${publicId}, from the list`)
      if (deletion === 'acknowledged' && ids.has(publicId)) lost.push(`delete of ${publicId}, in the list`)
    }
    const madeUnheard = new Set<string>()
    for (const { publicId, name, steps } of listed) {
      if (entries.has(publicId)) continue
      if (steps.length !== stepCount) lost.push(`half of ${publicId}`)
      if (!this.#uncertainCreates.has(name)) doubled.push(`form ${publicId}, which nobody made`)
      else if (madeUnheard.has(name)) doubled.push(`create of ${name}`)
      madeUnheard.add(name)
    }
  }

  async #create(): Promise<boolean> {
    const name = `Form ${randomUUID()}`
    const answer = await this.#send('create', 'POST', '', { form: publishable({ name }) })
    if (answer?.status !== 200) this.#uncertainCreates.add(name)
    else {
      const { publicId, updateTime } = answer.body
      this.#entries.push({
        publicId,
        updateTime,
        names: new Set([name]),
        publishes: new Map(),
        deletion: 'none',
      })
    }
    return answer?.status === 200
  }

  async #patch(entry: Entry): Promise<boolean> {
    const name = `Form ${randomUUID()}`
    entry.names.add(name)
    const answer = await this.#send('patch', 'PATCH', `/${entry.publicId}`, { form: { name } })
    if (answer?.status !== 200) return false
    entry.names = new Set([name])
    entry.updateTime = answer.body.updateTime
    return true
  }

  async #publish(entry: Entry): Promise<boolean> {
    const requestId = randomUUID()
    const publish = { acknowledged: false, names: new Set(entry.names) }
    entry.publishes.set(requestId, publish)
    const answer = await this.#send('publish', 'POST', `/${entry.publicId}/publish`, { requestId })
    publish.acknowledged = answer?.status === 200
    return publish.acknowledged
  }

  async #delete(entry: Entry): Promise<boolean> {
    entry.deletion = 'sent'
    const answer = await this.#send('delete', 'DELETE', `/${entry.publicId}`)
    if (answer?.status === 200) entry.deletion = 'acknowledged'
    return answer?.status === 200
  }

  async #read({ publicId }: Entry): Promise<boolean> {
    return (await this.#send('read', 'GET', `/${publicId}`))?.status === 200
  }

  async #list(): Promise<boolean> {
    return (await this.#send('list', 'GET', '?pageSize=5'))?.status === 200
  }

  /** Sends a request once and tallies what came of it; undefined where the connection broke. */
  async #send(kind: Kind, method: string, path: string, body?: object): Promise<Answer | undefined> {
    this.tally.requests++
    this.tally.byKind[kind]++
    const answer = await this.#call(method, path, body).catch((error) => {
      if (!isBrokenConnection(error)) throw error
      return undefined
    })
    if (answer?.status !== 200) {
      const reason = answer?.body?.error?.details?.[0]?.reason ?? ''
      this.tally.failures.push({ kind, status: answer ? `${answer.status}` : 'gone', reason })
      // As every client does: who repeats at once only makes it worse.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return answer
  }

  /** Sends a request until it is answered as it must be. */
  async #demand(method: string, path: string, statuses = [200], body?: object): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#call(method, path, body).catch(() => undefined)
      if (answer && statuses.includes(answer.status)) return answer
      if (tries > 100)
        throw new Error(`${method} ${path} is answered ${answer?.status} ${JSON.stringify(answer?.body)}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  #call(method: string, path: string, body?: object): Promise<Answer> {
    return this.#system.call(this.#account, method, `${this.#account.forms}${path}`, body)
  }
}

/** As fetch has it. Whatever else is thrown is an answer that the OpenAPI document does not allow. */
const isBrokenConnection = (error: unknown) => error instanceof TypeError
