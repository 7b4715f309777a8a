import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Account, type Answer, publishable, type System } from '../system.ts'

/** What a client knows of one form: what was acknowledged, and what was sent without an answer. */
interface Entry {
  publicId: string
  /** Names that the draft may have: the last acknowledged one, and those sent since without an acknowledgement. */
  names: Set<string>
  /** Every name that was ever sent. */
  sentNames: Set<string>
  /** Of every publish that was sent. */
  requestIds: string[]
  /** For each acknowledged publish, in the order of revisions: names that the draft may have had. */
  published: Set<string>[]
  deletion: 'none' | 'sent' | 'acknowledged'
}

/** What happened to the requests of one phase. */
export interface Tally {
  requests: number
  /** Answers other than success by status and reason; `gone` where the connection broke. */
  failures: Map<string, number>
}

export interface Verdict {
  /** Acknowledged writes that are not there. */
  lost: string[]
  /** Writes that happened more than once, or that nobody asked for. */
  doubled: string[]
}

/** A form of a list, or the one within a revision. */
interface Form {
  publicId: string
  name: string
  steps: unknown[]
}

interface Revision {
  path: string
  alternateIds: string[]
  form: Form
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!

/** Forms that a client has at a time. */
const livingForms = 3

/** A client whose request failed waits so long before the next, as one that is well-behaved. */
const pauseMs = 10

/** One caller with forms of its own, which keeps a journal of every answer and can say what must be true. */
export class Client {
  readonly #system: Pick<System, 'call'>
  readonly #account: Account
  #entries: Entry[] = []
  /** Names of creates that got no answer: each may have made one form. */
  readonly #uncertainCreates = new Set<string>()
  /** What was found to be wrong while the load ran. */
  #lost: string[] = []
  tally: Tally = { requests: 0, failures: new Map() }

  constructor(system: Pick<System, 'call'>, account: Account) {
    this.#system = system
    this.#account = account
  }

  /** Sends one random request after the other until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const living = this.#entries.filter(({ deletion }) => deletion === 'none')
      const succeeded =
        living.length < livingForms
          ? await this.#create()
          : await pick([
              this.#patch,
              this.#patch,
              this.#publish,
              this.#publish,
              this.#read,
              this.#list,
              this.#delete,
            ]).call(this, pick(living))
      if (!succeeded) await delay(pauseMs)
    }
  }

  /** What happened since this was last asked. */
  takeTally(): Tally {
    const tally = this.tally
    this.tally = { requests: 0, failures: new Map() }
    return tally
  }

  /** Whether each kind of request succeeds just now. Deletes the form that it made. */
  async works(): Promise<boolean> {
    const create = await this.#create()
    const entry = this.#entries.at(-1)
    return (
      create &&
      !!entry &&
      (await this.#patch(entry)) &&
      (await this.#publish(entry)) &&
      (await this.#read(entry)) &&
      (await this.#list()) &&
      (await this.#delete(entry))
    )
  }

  /** One create, as it is answered. */
  async tryCreate(): Promise<Answer | undefined> {
    const name = `Form ${randomUUID()}`
    const answer = await this.#send('POST', '', { form: publishable({ name }) })
    if (answer?.status !== 200) this.#uncertainCreates.add(name)
    else {
      const { publicId } = answer.body
      this.#entries.push({
        publicId,
        names: new Set([name]),
        sentNames: new Set([name]),
        requestIds: [],
        published: [],
        deletion: 'none',
      })
    }
    return answer
  }

  /** One list, as it is answered. */
  async tryList(): Promise<Answer | undefined> {
    return this.#send('GET', '?pageSize=5')
  }

  /** Compares the journal with the system. Repeats every publish, which must change nothing that was done. */
  async check(): Promise<Verdict> {
    const verdict: Verdict = { lost: this.#lost, doubled: [] }
    this.#lost = []
    for (const entry of this.#entries) await this.#checkForm(entry, verdict)
    const listed = await this.#checkList(verdict)
    await this.#forget(listed)
    return verdict
  }

  async #checkForm(entry: Entry, verdict: Verdict): Promise<void> {
    const { publicId, names, deletion } = entry
    const form = await this.#demand('GET', `/${publicId}`, [200, 404])
    if (form.status === 404) {
      if (deletion === 'none') verdict.lost.push(`form ${publicId}`)
      return
    }
    if (deletion === 'acknowledged') verdict.lost.push(`delete of ${publicId}`)
    if (!names.has(form.body.name))
      verdict.lost.push(`patch of ${publicId}: ${form.body.name} is not of ${[...names]}`)
    if (!isWhole(form.body)) verdict.lost.push(`half of form ${publicId}`)
    await this.#checkRevisions(entry, verdict)
  }

  async #checkRevisions(entry: Entry, verdict: Verdict): Promise<void> {
    const { publicId, requestIds, published, sentNames } = entry
    const revisions = () => this.#all<Revision>(`/${publicId}/revisions`, 'revisions', verdict)
    const before = await revisions()
    let found = 0
    // Publishes without an answer may have made revisions in between.
    for (const { form } of before.toReversed()) if (published[found]?.has(form.name)) found++
    if (found < published.length) verdict.lost.push(`${published.length - found} publishes of ${publicId}`)
    for (const { path, form } of before) {
      if (!sentNames.has(form.name) || !isWhole(form)) verdict.lost.push(`content of ${path}`)
    }

    for (const requestId of requestIds)
      await this.#demand('POST', `/${publicId}/publish`, [200], { requestId })
    const after = await revisions()
    const surplus = after.length - requestIds.length
    if (surplus > 0) verdict.doubled.push(`${surplus} publishes of ${publicId}`)
    if (surplus < 0) verdict.lost.push(`${-surplus} repeated publishes of ${publicId}`)
    const live = after.filter(({ alternateIds }) => alternateIds.includes('live'))
    if (after.length > 0 && (live.length !== 1 || live[0] !== after[0]))
      verdict.lost.push(
        `live of ${publicId}: it is on ${live.map(({ path }) => path)}, not on ${after[0]?.path}`,
      )
    entry.published = after.toReversed().map(({ form }) => new Set([form.name]))
  }

  /** The list has every form of the journal, under one of its names, and nothing else. */
  async #checkList(verdict: Verdict): Promise<Form[]> {
    const forms = await this.#all<Form>('', 'forms', verdict)
    const listed = new Map(forms.map((form) => [form.publicId, form]))
    if (listed.size < forms.length) verdict.doubled.push(`${forms.length - listed.size} forms in the list`)
    for (const { publicId, names, deletion } of this.#entries) {
      const form = listed.get(publicId)
      listed.delete(publicId)
      if (!form && deletion === 'none') verdict.lost.push(`form ${publicId} in the list`)
      if (form && deletion === 'acknowledged') verdict.lost.push(`delete of ${publicId} in the list`)
      if (form && !names.has(form.name)) verdict.lost.push(`patch of ${publicId} in the list`)
    }
    const uncertain = new Set(this.#uncertainCreates)
    for (const { publicId, name } of listed.values())
      if (!uncertain.delete(name)) verdict.doubled.push(`create of ${name}, as ${publicId}`)
    return forms
  }

  /** Deletes all but a few forms that the journal is sure of, so that the next fault begins with old ones, too. */
  async #forget(listed: Form[]): Promise<void> {
    const there = new Set(listed.map(({ publicId }) => publicId))
    const kept = this.#entries
      .filter(({ publicId, deletion }) => deletion === 'none' && there.has(publicId))
      .slice(0, livingForms)
    const ids = new Set(kept.map(({ publicId }) => publicId))
    for (const { publicId } of listed)
      if (!ids.has(publicId)) await this.#demand('DELETE', `/${publicId}`, [200, 404])
    this.#entries = kept
    this.#uncertainCreates.clear()
  }

  /** Every item of a list, page by page; `totalSize` must agree. */
  async #all<Item>(path: string, member: string, verdict: Verdict): Promise<Item[]> {
    const items: Item[] = []
    for (let pageToken = ''; ; ) {
      const { body } = await this.#demand('GET', `${path}?pageSize=20&pageToken=${pageToken}`)
      items.push(...body[member])
      pageToken = body.nextPageToken
      if (pageToken) continue
      if (body.totalSize !== items.length)
        verdict.lost.push(`totalSize ${body.totalSize} of ${items.length} ${member}`)
      return items
    }
  }

  async #create(): Promise<boolean> {
    return (await this.tryCreate())?.status === 200
  }

  async #patch(entry: Entry): Promise<boolean> {
    const name = `Form ${randomUUID()}`
    entry.names.add(name)
    entry.sentNames.add(name)
    const answer = await this.#send('PATCH', `/${entry.publicId}`, { form: { name } })
    if (answer?.status === 200) entry.names = new Set([name])
    return answer?.status === 200
  }

  async #publish(entry: Entry): Promise<boolean> {
    const requestId = randomUUID()
    entry.requestIds.push(requestId)
    const names = new Set(entry.names)
    const answer = await this.#send('POST', `/${entry.publicId}/publish`, { requestId })
    if (answer?.status === 200) entry.published.push(names)
    return answer?.status === 200
  }

  async #delete(entry: Entry): Promise<boolean> {
    entry.deletion = 'sent'
    const answer = await this.#send('DELETE', `/${entry.publicId}`)
    if (answer?.status === 200) entry.deletion = 'acknowledged'
    return answer?.status === 200
  }

  async #read({ publicId, names }: Entry): Promise<boolean> {
    const answer = await this.#send('GET', `/${publicId}`)
    if (answer?.status === 404) this.#lost.push(`form ${publicId}, while it was read`)
    if (answer?.status === 200 && !names.has(answer.body.name))
      this.#lost.push(`patch of ${publicId}, while it was read`)
    return answer?.status === 200
  }

  async #list(): Promise<boolean> {
    const answer = await this.tryList()
    if (answer?.status !== 200) return false
    const count = (deletion: Entry['deletion']) =>
      this.#entries.filter((entry) => entry.deletion === deletion).length
    const least = count('none')
    const most = least + count('sent') + this.#uncertainCreates.size
    const { totalSize } = answer.body
    if (totalSize < least || totalSize > most)
      this.#lost.push(`totalSize, while it was read: ${totalSize} and not ${least} to ${most}`)
    return true
  }

  /** Sends a request once and tallies what came of it; undefined where the connection broke. */
  async #send(method: string, path: string, body?: object): Promise<Answer | undefined> {
    this.tally.requests++
    const answer = await this.#call(method, path, body)
    if (answer?.status !== 200) {
      const failure = answer ? `${answer.status} ${reasonOf(answer)}` : 'gone'
      this.tally.failures.set(failure, (this.tally.failures.get(failure) ?? 0) + 1)
    }
    return answer
  }

  /** Sends a request until it is answered as it must be. */
  async #demand(method: string, path: string, statuses = [200], body?: object): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#call(method, path, body)
      if (answer && statuses.includes(answer.status)) return answer
      if (tries > 100)
        throw new Error(`${method} ${path} is answered ${answer?.status} ${JSON.stringify(answer?.body)}`)
      await delay(100)
    }
  }

  #call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    const { forms } = this.#account
    return this.#system.call(this.#account, method, `${forms}${path}`, body).catch((error) => {
      // Only the network may fail; that an answer is not as documented is a defect.
      if (error instanceof TypeError) return undefined
      throw error
    })
  }
}

/** Whether it has the steps that every form of these tests has, and a name. */
const isWhole = ({ name, steps }: Form) => !!name && steps.length === publishable().steps.length

const reasonOf = ({ body }: Answer): string =>
  body?.error?.details?.find((detail: { reason?: string }) => detail.reason)?.reason ?? 'of no reason'
