import type { JsonValue } from '@fms/client'
import { computed, type Signal, signal } from '@preact/signals'
import { isObject } from '../../json/values.ts'

/** Most changes that can be undone. */
const maxSteps = 100
/** Longest pause between two keystrokes that are undone together. Milliseconds. */
const pauseMs = 1_000

/** A state, the ones before it, and those that were undone. What is typed without a pause into one field is one step. */
export class History<S> {
  readonly current: Signal<S>
  readonly canUndo = computed(() => this.#past.value.length > 0)
  readonly canRedo = computed(() => this.#undone.value.length > 0)
  readonly #past = signal<readonly S[]>([])
  readonly #undone = signal<readonly S[]>([])
  readonly #fieldBetween: (before: S, after: S) => string | undefined
  #lastField: string | undefined
  #lastTimeMs = 0

  /** @param fieldBetween the field in which somebody has typed between two states; undefined if they did something else */
  constructor(first: S, fieldBetween: (before: S, after: S) => string | undefined) {
    this.current = signal(first)
    this.#fieldBetween = fieldBetween
  }

  add(state: S): void {
    const before = this.current.peek()
    const field = this.#fieldBetween(before, state)
    const timeMs = Date.now()
    const isTyping =
      field !== undefined &&
      field === this.#lastField &&
      timeMs - this.#lastTimeMs < pauseMs &&
      this.canUndo.peek()
    if (!isTyping) this.#past.value = [...this.#past.peek(), before].slice(-maxSteps)
    this.#undone.value = []
    this.#lastField = field
    this.#lastTimeMs = timeMs
    this.current.value = state
  }

  undo(): void {
    this.#move(this.#past, this.#undone)
  }

  redo(): void {
    this.#move(this.#undone, this.#past)
  }

  /** Replaces all states, such as after a save, which adds no step. */
  map(replace: (state: S) => S): void {
    this.#past.value = this.#past.peek().map(replace)
    this.#undone.value = this.#undone.peek().map(replace)
    this.current.value = replace(this.current.peek())
  }

  #move(from: Signal<readonly S[]>, to: Signal<readonly S[]>): void {
    const state = from.peek().at(-1)
    if (state === undefined) return
    to.value = [...to.peek(), this.current.peek()]
    from.value = from.peek().slice(0, -1)
    this.#lastField = undefined
    this.current.value = state
  }
}

/**
 * The path of the text or number that is all that differs between two states, such as `/steps/2/title`. Texts that change
 * together in one object count as one, such as a title and the key that is made from it. Unchanged parts are the same objects.
 */
export const fieldBetween = (
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path = '',
): string | undefined => {
  if (typeof after === 'string' || typeof after === 'number') return path
  if (!isContainer(before) || !isContainer(after)) return undefined
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => before[name] !== after[name])
  if (changed.length === 1)
    return fieldBetween(before[changed[0]!], after[changed[0]!], `${path}/${changed[0]}`)
  const areTexts = isObject(after) && changed.every((name) => typeof after[name] === 'string')
  return areTexts && changed.length > 0 ? `${path}/${changed.sort().join()}` : undefined
}

const isContainer = (value: unknown): value is { [member: string]: JsonValue } =>
  typeof value === 'object' && value !== null
