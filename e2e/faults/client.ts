import { randomUUID } from 'node:crypto'
import { type Account, type Answer, publishable, type System } from '../system.ts'

/** What a client knows of one form: what was acknowledged, and what was sent without an answer. */
interface Entry {
  publicId: string
  /** Names that the draft may have: the last acknowledged one, and those sent since without an acknowledgement. */
  names: Set<string>
  /** The `requestId` of every publish that was sent, with whether it was acknowledged. */
  publishes: Map<string, boolean>
  deletion: 'none' | 'sent' | 'acknowledged'
}

/** What happened to the requests of one phase. */
export interface Tally {
  requests: number
  /** Answers other than success by status; `gone` where the connection broke. */
  failures: Map<string, number>
}

export interface Verdict {
  /** Acknowledged writes that are not there. */
  lost: string[]
  /** Writes that happened more than once. */
  doubled: string[]
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!

/** One caller with forms of its own, which keeps a journal of every answer and can say what must be true. */
export class Client {
  readonly #system: System
  readonly #account: Account
  #entries: Entry[] = []
  /** Names of creates that got no answer: each may have made one form. */
  readonly #uncertainCreates = new Set<string>()
  tally: Tally = { requests: 0, failures: new Map() }

  constructor(system: System, account: Account) {
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

  /** Compares the journal with the system. Repeats every publish, which must change nothing that was done. */
  async check(): Promise<Verdict> {
    const verdict: Verdict = { lost: [], doubled: [] }
    for (const entry of this.#entries) await this.#checkForm(entry, verdict)
    for (const name of this.#uncertainCreates) {
      const { body } = await this.#demand('GET', `?filter=${encodeURIComponent(`name = "${name}"`)}`)
      if (body.totalSize > 1) verdict.doubled.push(`create of ${name}`)
    }
    // What was checked stays as it is: the next fault has forms of its own.
    this.#entries = []
    this.#uncertainCreates.clear()
    return verdict
  }

  async #checkForm({ publicId, names, publishes, deletion }: Entry, verdict: Verdict): Promise<void> {
    const form = await this.#demand('GET', `/${publicId}`, [200, 404])
    if (form.status === 404) {
      if (deletion === 'none') verdict.lost.push(`form ${publicId}`)
      return
    }
    if (deletion === 'acknowledged') verdict.lost.push(`delete of ${publicId}`)
    if (!names.has(form.body.name))
      verdict.lost.push(`patch of ${publicId}: ${form.body.name} is not of ${[...names]}`)

    const revisions = async () =>
      (await this.#demand('GET', `/${publicId}/revisions`)).body.totalSize as number
    const before = await revisions()
    const acknowledged = [...publishes.values()].filter(Boolean).length
    if (before < acknowledged) verdict.lost.push(`${acknowledged - before} publishes of ${publicId}`)
    for (const requestId of publishes.keys())
      await this.#demand('POST', `/${publicId}/publish`, [200], { requestId })
    const after = await revisions()
    if (after > publishes.size) verdict.doubled.push(`${after - publishes.size} publishes of ${publicId}`)
  }

  async #create(): Promise<boolean> {
    const name = `Form ${randomUUID()}`
    const answer = await this.#send('POST', '', { form: publishable({ name }) })
    if (answer?.status !== 200) this.#uncertainCreates.add(name)
    else {
      const { publicId } = answer.body
      this.#entries.push({ publicId, names: new Set([name]), publishes: new Map(), deletion: 'none' })
    }
    return answer?.status === 200
  }

  async #patch(entry: Entry): Promise<boolean> {
    const name = `Form ${randomUUID()}`
    entry.names.add(name)
    const answer = await this.#send('PATCH', `/${entry.publicId}`, { form: { name } })
    if (answer?.status === 200) entry.names = new Set([name])
    return answer?.status === 200
  }

  async #publish(entry: Entry): Promise<boolean> {
    const requestId = randomUUID()
    entry.publishes.set(requestId, false)
    const answer = await this.#send('POST', `/${entry.publicId}/publish`, { requestId })
    if (answer?.status === 200) entry.publishes.set(requestId, true)
    return answer?.status === 200
  }

  async #delete(entry: Entry): Promise<boolean> {
    entry.deletion = 'sent'
    const answer = await this.#send('DELETE', `/${entry.publicId}`)
    if (answer?.status === 200) entry.deletion = 'acknowledged'
    return answer?.status === 200
  }

  async #read({ publicId }: Entry): Promise<boolean> {
    return (await this.#send('GET', `/${publicId}`))?.status === 200
  }

  async #list(): Promise<boolean> {
    return (await this.#send('GET', '?pageSize=5'))?.status === 200
  }

  /** Sends a request once and tallies what came of it; undefined where the connection broke. */
  async #send(method: string, path: string, body?: object): Promise<Answer | undefined> {
    this.tally.requests++
    const answer = await this.#system
      .call(this.#account, method, `${this.#account.forms}${path}`, body)
      .catch(() => undefined)
    if (answer?.status !== 200) {
      const failure = answer ? `${answer.status}` : 'gone'
      this.tally.failures.set(failure, (this.tally.failures.get(failure) ?? 0) + 1)
    }
    return answer
  }

  /** Sends a request until it is answered as it must be. */
  async #demand(method: string, path: string, statuses = [200], body?: object): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#system
        .call(this.#account, method, `${this.#account.forms}${path}`, body)
        .catch(() => undefined)
      if (answer && statuses.includes(answer.status)) return answer
      if (tries > 100)
        throw new Error(`${method} ${path} is answered ${answer?.status} ${JSON.stringify(answer?.body)}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
