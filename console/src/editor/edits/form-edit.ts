import {
  type ChangeOptions,
  type Client,
  type FieldViolation,
  type FormPatch,
  FormsApiError,
  isReason,
  type TaggedForm,
} from '@fms/client'
import { computed, signal } from '@preact/signals'
import { patchBetween } from '../../json/merge-patch.ts'
import { hasChangesOf } from '../../json/three-way-merge.ts'
import { isEqual, type JsonObject } from '../../json/values.ts'
import { organizationOf } from '../../routing/organization-of.ts'
import { afterPauses } from './after-pauses.ts'
import { fieldsOf, parseFields, textOf } from './fields-of-form.ts'
import type { OwnEdits } from './own-edits.ts'

/** Delay after the last keystroke before the edit is checked by a dry run. Milliseconds. */
const checkDelayMs = 600
/** Delay after the last keystroke before the edit of a large form is kept in this browser. Milliseconds. */
const storeDelayMs = 300
/** Characters of JSON from which a form counts as large. Smaller ones are kept at once. */
const largeLength = 50_000

/** Somebody else changed the form since the edit began. */
export interface Conflict {
  theirs: TaggedForm
}

/** How an edit began: anew, with what this browser kept, or with that and a form that has changed since. */
export type Beginning = 'new' | 'restored' | 'restored-and-moved'

/** The edit of one form: what was read, what was typed since, and what the service says about it. */
export class FormEdit {
  /** The state of the form that the edit is based on. */
  readonly base
  /** The fields with the edits; the last valid ones while the text is no JSON object. */
  readonly fields
  /** What the JSON editor shows. */
  readonly text
  /** Whether the text is a JSON object. */
  readonly isValid = signal(true)
  readonly violations = signal<readonly FieldViolation[]>([])
  readonly conflict = signal<Conflict | undefined>(undefined)
  readonly beginning = signal<Beginning>('new')
  /** Whether this browser keeps further edits of the form, of tabs that are closed. */
  readonly hasMore = signal(false)
  /** Whether this browser had room for the edits. */
  readonly isStored = signal(true)
  readonly isDirty
  readonly #client: Client
  readonly #edits: OwnEdits
  readonly #stops: (() => void)[]
  /** The newest state of the form that is known: in a conflict, and after it, that of somebody else. */
  #newest: TaggedForm

  /**
   * @param mayWrite whether the user may save: else nothing is restored
   * @param openTabs tabs that go on with their own edits
   */
  constructor(
    client: Client,
    edits: OwnEdits,
    current: TaggedForm,
    mayWrite: boolean,
    openTabs: ReadonlySet<string>,
  ) {
    this.#client = client
    this.#edits = edits
    this.#newest = current
    this.base = signal(current)
    this.fields = signal(fieldsOf(current.form))
    this.text = signal(textOf(this.fields.peek()))
    this.isDirty = computed(
      () => !this.isValid.value || !isEqual(fieldsOf(this.base.value.form), this.fields.value),
    )
    if (mayWrite) this.#restore(current, openTabs)
    this.#stops = [this.#storeEdits(), this.#checkEdits()]
  }

  /** Replaces some fields. */
  change(fields: JsonObject): void {
    this.#show({ ...this.fields.peek(), ...fields })
  }

  /** Takes what was typed as JSON. */
  changeText(text: string): void {
    const fields = parseFields(text)
    this.text.value = text
    this.isValid.value = fields !== undefined
    if (fields !== undefined) this.fields.value = fields
  }

  /** Drops the edit, and continues with the newest state of the form that is known. */
  discard(): void {
    this.base.value = this.#newest
    this.#show(fieldsOf(this.base.peek().form))
    this.beginning.value = 'new'
  }

  /**
   * Saves what was edited. If somebody else changed the form meanwhile, nothing is saved and `conflict` has their state.
   *
   * @throws {FormsApiError} with the violations, which are shown at their place, too.
   */
  async save(): Promise<void> {
    const { etag } = this.base.peek()
    const sent = this.fields.peek()
    try {
      this.#takeOver(await this.#update({ ifMatch: etag }), sent)
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
    this.#newest = theirs
    const mine = this.fields.peek()
    if (this.isValid.peek() && this.#isSavedIn(theirs)) this.#takeOver(theirs, mine)
    else this.conflict.value = { theirs }
  }

  /** Ends a conflict: continues the edit with these fields, based on their state. */
  resolve(fields: JsonObject): void {
    const { theirs } = this.conflict.peek()!
    this.base.value = theirs
    this.conflict.value = undefined
    this.beginning.value = 'new'
    this.#show(fields)
  }

  /** Deletes the form in the state that the edit is based on. @throws {FormsApiError} FORM_MOVED */
  async delete(): Promise<void> {
    const { form, etag } = this.base.peek()
    await this.#client.forms.delete(organizationOf(form.path), form.path, { ifMatch: etag })
    this.discard()
  }

  dispose(): void {
    for (const stop of this.#stops) stop()
  }

  /** Whether a state of the form has all changes of the edit, such as after a save whose response was lost. */
  #isSavedIn({ form }: TaggedForm): boolean {
    return hasChangesOf(fieldsOf(this.base.peek().form), this.fields.peek(), fieldsOf(form))
  }

  /** Sends what differs from the base. */
  #update(options: ChangeOptions): Promise<TaggedForm> {
    const { path } = this.base.peek().form
    const patch = patchBetween(fieldsOf(this.base.peek().form), this.fields.peek()) as FormPatch
    return this.#client.forms.update(organizationOf(path), path, patch, options)
  }

  /** @param sent the fields that were saved; what was typed during the save stays. */
  #takeOver(saved: TaggedForm, sent: JsonObject): void {
    const isUnchanged = this.fields.peek() === sent
    this.#newest = saved
    this.base.value = saved
    this.violations.value = []
    this.beginning.value = 'new'
    if (isUnchanged) this.#show(fieldsOf(saved.form))
  }

  #show(fields: JsonObject): void {
    this.fields.value = fields
    this.text.value = textOf(fields)
    this.isValid.value = true
  }

  #restore(current: TaggedForm, openTabs: ReadonlySet<string>): void {
    const taken = this.#edits.take(current.form.path, fieldsOf(current.form), openTabs)
    if (taken === undefined) return
    const { base, etag, text } = taken.edit
    const isMoved = !isEqual(base, fieldsOf(current.form))
    if (isMoved) this.base.value = { form: { ...current.form, ...base }, etag }
    this.changeText(text)
    this.hasMore.value = taken.hasMore
    if (this.isDirty.peek()) this.beginning.value = isMoved ? 'restored-and-moved' : 'restored'
    this.#store()
  }

  /** Keeps what is unsaved in this browser. */
  #store(): void {
    const { form, etag } = this.base.peek()
    if (this.isDirty.peek())
      this.isStored.value = this.#edits.write(form.path, {
        etag,
        base: fieldsOf(form),
        text: this.text.peek(),
      })
    else this.#edits.remove(form.path)
  }

  #storeEdits(): () => void {
    const pauses = afterPauses(
      () => this.#store(),
      () => {
        this.base.value
        return this.text.value.length < largeLength ? 0 : storeDelayMs
      },
    )
    // Where the browser has no locks, another tab may have taken the edit of this one.
    const storeLast = () => {
      pauses.flush()
      if (this.isDirty.peek()) this.#store()
    }
    addEventListener('pagehide', storeLast)
    const stopFlushes = this.#edits.onUse(pauses.flush)
    return () => {
      removeEventListener('pagehide', storeLast)
      stopFlushes()
      // Only what was typed just now: signing out has deleted the rest.
      pauses.flush()
      pauses.stop()
    }
  }

  /** Checks the edit by dry runs, each after a pause in the typing. */
  #checkEdits(): () => void {
    let run = new AbortController()
    const check = async () => {
      run.abort()
      run = new AbortController()
      const { signal } = run
      if (!this.isValid.peek()) return
      const found = this.isDirty.peek() ? await this.#violations(signal) : []
      if (found && !signal.aborted) this.violations.value = found
    }
    const pauses = afterPauses(check, () => {
      this.fields.value
      return checkDelayMs
    })
    return () => {
      run.abort()
      pauses.stop()
    }
  }

  /** @returns undefined if the service could not check the edit, such as while there is no connection. */
  async #violations(signal: AbortSignal): Promise<readonly FieldViolation[] | undefined> {
    try {
      await this.#update({ validateOnly: true, signal })
      return []
    } catch (error) {
      return error instanceof FormsApiError && error.code === 400 ? error.fieldViolations : undefined
    }
  }
}
