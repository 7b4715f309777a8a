import type { FormEvent } from '@fms/contracts'

/** A change that was acknowledged. */
export interface Change {
  publicId: string
  type:
    | 'form.created'
    | 'form.updated'
    | 'form.published'
    | 'form.unpublished'
    | 'form.rolledBack'
    | 'form.deleted'
    | 'form.undeleted'
    | 'form.purged'
  /** The name that a create or patch gave the form. Every name is sent once. */
  name?: string
}

/** A form as the system shows it after a fault. */
export interface VisibleForm {
  publicId: string
  name: string
  revisions: number
  live: boolean
  /** How many unpublishes were acknowledged. */
  unpublishes: number
  /** How many undeletes were acknowledged. */
  undeletes: number
}

/** The differences between the log and the journal, and between the log and the forms that exist. */
export interface EventVerdict {
  /** Events that are missing, and gaps in the numbers. */
  missing: string[]
  /** Events of changes that were never made, and second events of a change. */
  invented: string[]
  /** Events of a form whose ETags or times do not follow each other. */
  outOfOrder: string[]
}

/** The history of one form according to its events so far. */
interface History {
  counts: Map<string, number>
  names: Set<string>
  /** The number of the draft's state; `""` of a deleted form. */
  version: string
  /** The same, but of a deleted form the last one. */
  lastVersion: string
  isDeleted: boolean
  time: string
  /** Whether a publish came after the last unpublish. */
  live: boolean
}

/** The part of an ETag that numbers the state of the draft. */
const versionOf = (etag: string) => etag.replace(/^"|-.*$/g, '')

/** The changes of one organization that were acknowledged since the last check, and the history of its forms. */
export class EventJournal {
  #changes: Change[] = []
  /** What {@link read} has found since the last check. */
  #found: EventVerdict = { missing: [], invented: [], outOfOrder: [] }
  readonly #histories = new Map<string, History>()
  /** The sequence of the last event that a check has read. */
  lastSequence = 0

  acknowledge(change: Change): void {
    this.#changes.push(change)
  }

  /**
   * Adds the next events of the log.
   *
   * @param wasSent whether a create or patch with this name was ever sent.
   */
  read(events: readonly FormEvent[], wasSent: (name: string) => boolean): void {
    for (const event of events) this.#add(event, wasSent)
  }

  /** Whether every acknowledged change, and every change that the forms show, has its event. */
  isComplete(forms: readonly VisibleForm[]): boolean {
    return this.#missing(forms).length === 0
  }

  /** Compares the events with the acknowledged changes and with all forms that exist, and forgets what is settled. */
  check(forms: readonly VisibleForm[]): EventVerdict {
    const { missing, invented, outOfOrder } = this.#found
    missing.push(...this.#missing(forms))
    for (const form of forms) {
      for (const [type, surplus] of this.#surplusesOf(form))
        if (surplus > 0) invented.push(`${surplus} ${type} of ${form.publicId}`)
    }
    const existing = new Set(forms.map(({ publicId }) => publicId))
    for (const publicId of this.#histories.keys())
      if (!existing.has(publicId)) this.#histories.delete(publicId)
    this.#changes = []
    this.#found = { missing: [], invented: [], outOfOrder: [] }
    return { missing, invented, outOfOrder }
  }

  /** For each type of event whose number is known: how many more events the log has than there were changes. */
  #surplusesOf({ publicId, revisions, unpublishes, undeletes }: VisibleForm): [Change['type'], number][] {
    const counts = this.#histories.get(publicId)?.counts
    const expected = {
      'form.published': revisions,
      'form.unpublished': unpublishes,
      'form.undeleted': undeletes,
      // The form exists, so each delete was undone.
      'form.deleted': undeletes,
    }
    return Object.entries(expected).map(([type, count]) => [
      type as keyof typeof expected,
      (counts?.get(type) ?? 0) - count,
    ])
  }

  #missing(forms: readonly VisibleForm[]): string[] {
    const existing = new Set(forms.map(({ publicId }) => publicId))
    const gone = [...this.#histories].filter(([id, { isDeleted }]) => !existing.has(id) && !isDeleted)
    return [
      ...this.#changes
        .filter((change) => !this.#has(change))
        .map(({ type, publicId, name = '' }) => `${type} of ${publicId} ${name}`),
      ...gone.map(([publicId]) => `form.deleted of ${publicId}`),
      ...forms.flatMap((form) => this.#missingOf(form)),
    ]
  }

  #missingOf(form: VisibleForm): string[] {
    const { publicId, name, live } = form
    const history = this.#histories.get(publicId)
    return [
      ...(history?.names.has(name) ? [] : [`the change that named ${publicId} ${name}`]),
      ...((history?.live ?? false) === live
        ? []
        : [`the change that made ${publicId} ${live ? 'live' : 'not live'}`]),
      ...this.#surplusesOf(form)
        .filter(([, surplus]) => surplus < 0)
        .map(([type, surplus]) => `${-surplus} ${type} of ${publicId}`),
    ]
  }

  #add({ type, time, sequence, data }: FormEvent, wasSent: (name: string) => boolean): void {
    const { missing, invented, outOfOrder } = this.#found
    const { publicId, name, etag, previousEtag } = data
    if (Number(sequence) !== this.lastSequence + 1)
      missing.push(`the events between ${this.lastSequence} and ${sequence}`)
    this.lastSequence = Number(sequence)
    const history = this.#histories.get(publicId) ?? {
      counts: new Map(),
      names: new Set(),
      version: '',
      lastVersion: '',
      isDeleted: false,
      time: '',
      live: false,
    }
    this.#histories.set(publicId, history)
    const isDraftChange = type === 'form.created' || type === 'form.updated'
    if (isDraftChange && (history.names.has(name) || !wasSent(name)))
      invented.push(`${type} of ${publicId} ${name}`)
    const changesDeletion = type === 'form.deleted' || type === 'form.undeleted'
    if (changesDeletion && history.isDeleted === (type === 'form.deleted'))
      invented.push(`second ${type} of ${publicId}`)
    if (type === 'form.undeleted' && versionOf(etag) !== history.lastVersion)
      outOfOrder.push(`${type} of ${publicId}: ${etag} after ${history.lastVersion}`)
    if (versionOf(previousEtag) !== history.version || time <= history.time)
      outOfOrder.push(`${type} of ${publicId}: ${previousEtag} after ${history.version}`)
    history.counts.set(type, (history.counts.get(type) ?? 0) + 1)
    history.names.add(name)
    if (type === 'form.published' || type === 'form.unpublished') history.live = type === 'form.published'
    if (changesDeletion) history.isDeleted = type === 'form.deleted'
    // The history of a form that was deleted before the last check is forgotten.
    if (type === 'form.purged') history.isDeleted = true
    history.version = versionOf(etag)
    history.lastVersion = history.version || history.lastVersion
    history.time = time
  }

  #has({ publicId, type, name }: Change): boolean {
    const history = this.#histories.get(publicId)
    return !!history?.counts.has(type) && (name === undefined || history.names.has(name))
  }
}
