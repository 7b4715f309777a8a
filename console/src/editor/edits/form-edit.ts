import {
  type ChangeOptions,
  type Client,
  type FieldViolation,
  type FormPatch,
  FormsApiError,
  isReason,
  type TaggedForm,
} from '@fms/client'
import { batch, computed, effect, type Signal, signal, untracked } from '@preact/signals'
import { patchBetween } from '../../json/merge-patch.ts'
import { hasChangesOf } from '../../json/three-way-merge.ts'
import { isEqual, type JsonObject } from '../../json/values.ts'
import { organizationOf } from '../../routing/organization-of.ts'
import type { Remarks } from '../remarks.ts'
import { withoutBlankOptions } from '../steps/step-members.ts'
import { afterPauses } from './after-pauses.ts'
import { fieldsOf, parseFields, textOf } from './fields-of-form.ts'
import { fieldBetween, History } from './history.ts'
import type { OtherTabs } from './other-tabs.ts'
import type { StoredEdits, Typed } from './stored-edits.ts'

/** Delay after the last keystroke before the service checks the edit. Milliseconds. */
const checkDelayMs = 600

/** Somebody else, or the user in another tab, changed the form since the edit began. */
export interface Conflict {
  theirs: TaggedForm
  isOwn: boolean
}

/** How an edit began: anew, with what this browser kept, or with that and a form that has changed since. */
export type Beginning = 'new' | 'restored' | 'restored-and-moved'

/** What was typed, and the state of the form that it is based on. */
interface State extends Typed {
  base: TaggedForm
}

const asRead = (form: TaggedForm): State => ({ base: form, fields: fieldsOf(form.form) })

const typedField = (before: State, after: State): string | undefined => {
  if (before.base !== after.base) return undefined
  return after.text === undefined ? fieldBetween(before.fields, after.fields) : 'text'
}

/** The edit of one form: what was read, what was typed since, and what the service says about it. */
export class FormEdit {
  readonly history: History<State>
  /** The state of the form that the edit is based on. */
  readonly base = computed(() => this.history.current.value.base)
  /** The fields with the edits; the last valid ones while the text is no JSON object. */
  readonly fields = computed(() => this.history.current.value.fields)
  /** What the JSON editor shows. */
  readonly text = computed(() => this.history.current.value.text ?? textOf(this.fields.value))
  /** Whether the text is a JSON object. */
  readonly isValid = computed(() => {
    const { text } = this.history.current.value
    return text === undefined || parseFields(text) !== undefined
  })
  /** What a save sends: the fields without what is there only while somebody types. */
  readonly toSave = computed(() => withoutBlankOptions(this.fields.value))
  /** After an undo past a merge, the base is older than what the service has. */
  readonly isDirty = computed(
    () =>
      !this.isValid.value ||
      [this.base.value, this.#newest.value].some(({ form }) => !isEqual(fieldsOf(form), this.toSave.value)),
  )
  readonly violations = signal<readonly FieldViolation[]>([])
  /** What respondents may stumble over. */
  readonly warnings = signal<readonly FieldViolation[]>([])
  readonly remarks = computed(
    (): Remarks => ({
      violations: this.violations.value,
      warnings: this.warnings.value,
    }),
  )
  readonly conflict = signal<Conflict | undefined>(undefined)
  readonly beginning = signal<Beginning>('new')
  /** Whether this browser had room for the edit. */
  readonly isStored = signal(true)
  readonly otherTabs: OtherTabs
  readonly #client: Client
  readonly #edits: StoredEdits
  readonly #stops: (() => void)[]
  /** The newest state of the form that is known: in a conflict, and after it, that of somebody else. */
  readonly #newest: Signal<TaggedForm>
  readonly #mayWrite: boolean

  /** @param mayWrite whether the user may save: else nothing is restored or kept */
  constructor(
    client: Client,
    edits: StoredEdits,
    otherTabs: OtherTabs,
    current: TaggedForm,
    mayWrite: boolean,
  ) {
    this.#client = client
    this.#edits = edits
    this.otherTabs = otherTabs
    this.#newest = signal(current)
    this.#mayWrite = mayWrite
    this.history = new History(asRead(current), typedField)
    if (mayWrite) this.#restore()
    this.#stops = mayWrite ? [...this.#storeEdits(), ...this.#checkEdits()] : []
  }

  change(fields: JsonObject): void {
    this.#add({ fields: { ...this.fields.peek(), ...fields } })
  }

  /** Takes what was typed as JSON. */
  changeText(text: string): void {
    this.#add({ fields: parseFields(text) ?? this.fields.peek(), text })
  }

  /** Drops the edit, and continues with the newest state of the form that is known. */
  discard(): void {
    this.history.add(asRead(this.#newest.peek()))
    this.beginning.value = 'new'
  }

  /**
   * Saves what was edited. If somebody else changed the form meanwhile, nothing is saved and `conflict` has their state.
   *
   * @throws {FormsApiError} with the violations, which are shown at their place, too.
   */
  async save(): Promise<void> {
    const sent = this.history.current.peek()
    try {
      const saved = await this.#update({ ifMatch: sent.base.etag })
      this.otherTabs.saved(saved.etag)
      this.#takeOver(saved, sent)
    } catch (error) {
      if (error instanceof FormsApiError) this.violations.value = error.fieldViolations
      if (!isReason(error, 'FORM_MOVED')) throw error
      await this.readAgain()
    }
  }

  /** Reads the form, which somebody else has changed. A conflict is left if there is an edit that differs from it. */
  async readAgain(): Promise<void> {
    const { path } = this.base.peek().form
    const theirs = await this.#client.forms.get(organizationOf(path), path)
    this.#newest.value = theirs
    const mine = this.history.current.peek()
    const [before, after] = [mine.base, theirs].map(({ form }) => fieldsOf(form)) as [JsonObject, JsonObject]
    if (this.isValid.peek() && hasChangesOf(before, this.toSave.peek(), after)) this.#takeOver(theirs, mine)
    else this.conflict.value = { theirs, isOwn: this.otherTabs.haveSaved(theirs.etag) }
  }

  /** Ends a conflict: continues the edit with these fields, based on their state. */
  resolve(fields: JsonObject): void {
    const { theirs } = this.conflict.peek()!
    this.conflict.value = undefined
    this.beginning.value = 'new'
    this.history.add({ base: theirs, fields })
  }

  /** Deletes the form in the state that the edit is based on. @throws {FormsApiError} FORM_MOVED */
  async delete(): Promise<void> {
    const { form, etag } = this.base.peek()
    await this.#client.forms.delete(organizationOf(form.path), form.path, { ifMatch: etag })
  }

  /** Keeps what is unsaved in this browser: another tab may have replaced it. */
  keep(): void {
    if (!this.#mayWrite || !this.isDirty.peek()) return
    const { base, ...typed } = this.history.current.peek()
    const edit = { etag: base.etag, base: fieldsOf(base.form), ...typed }
    this.isStored.value = this.#edits.write(base.form.path, edit)
  }

  dispose(): void {
    for (const stop of this.#stops) stop()
    this.otherTabs.close()
  }

  #add(typed: Typed): void {
    this.history.add({ base: this.base.peek(), ...typed })
  }

  /** Sends what differs from the base. */
  #update(options: ChangeOptions): Promise<TaggedForm> {
    const { form } = this.base.peek()
    const patch = patchBetween(fieldsOf(form), this.toSave.peek()) as FormPatch
    return this.#client.forms.update(organizationOf(form.path), form.path, patch, options)
  }

  /** @param sent what the form has now; what was typed since stays. What is undone later is based on the saved state. */
  #takeOver(saved: TaggedForm, sent: State): void {
    this.#newest.value = saved
    this.history.map((state) => {
      if (state === sent) return asRead(saved)
      return state.base === sent.base ? { ...state, base: saved } : state
    })
    this.violations.value = []
    this.beginning.value = 'new'
  }

  #restore(): void {
    const current = this.#newest.peek()
    const currentFields = fieldsOf(current.form)
    const edit = this.#edits.read(current.form.path, currentFields)
    if (edit === undefined) return
    const { base, etag, ...typed } = edit
    const isMoved = !isEqual(base, currentFields)
    this.history.add({
      base: isMoved ? { form: { ...current.form, ...base }, etag } : current,
      ...typed,
    })
    if (this.isDirty.peek()) this.beginning.value = isMoved ? 'restored-and-moved' : 'restored'
  }

  /** Keeps what is unsaved in this browser; once more when the page closes, since another tab may have replaced it. */
  #storeEdits(): (() => void)[] {
    const { path } = this.base.peek().form
    const store = () => this.keep()
    addEventListener('pagehide', store)
    const stop = effect(() => {
      this.history.current.value
      untracked(() => (this.isDirty.peek() ? store() : this.#edits.remove(path)))
    })
    return [stop, () => removeEventListener('pagehide', store)]
  }

  /** Checks the form when the edit begins, and after each pause in the typing. */
  #checkEdits(): (() => void)[] {
    let run = new AbortController()
    const check = async () => {
      run.abort()
      run = new AbortController()
      const { signal } = run
      if (!this.isValid.peek()) return
      const found = await this.#check(signal)
      if (!found || signal.aborted) return
      batch(() => {
        this.violations.value = found.violations
        this.warnings.value = found.warnings
      })
    }
    check()
    return [afterPauses(checkDelayMs, () => this.fields.value, check), () => run.abort()]
  }

  /** @returns undefined if the service could not check the edit, such as while there is no connection. */
  async #check(signal: AbortSignal): Promise<Remarks | undefined> {
    const { path } = this.base.peek().form
    try {
      const form = this.toSave.peek() as FormPatch
      const { warnings } = await this.#client.forms.check(organizationOf(path), form, { signal })
      return {
        violations: [],
        warnings: warnings.map(({ field, message }) => ({ field, description: message })),
      }
    } catch (error) {
      if (!(error instanceof FormsApiError) || error.code !== 400) return undefined
      return { violations: error.fieldViolations, warnings: this.warnings.peek() }
    }
  }
}
