import type { JsonValue } from '@fms/client'
import { stepTypes } from '@fms/contracts/steps'
import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { RemarkTexts } from '../../elements/remark-texts.tsx'
import { asList, asObject, asText, isObject, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { remarksAt, worstOfSteps } from '../remarks.ts'
import { isTranslated, withOptionsFrom, withStepKey } from '../translations/translated-texts.ts'
import { useFocusInRow } from './focus-in-row.ts'
import { copyOfStep, newStep, withReferences, withTitle } from './new-step.ts'
import { formerPlaces, labelOf } from './option-lines.ts'
import { typeName } from './step-fields.tsx'
import { nameOfStep } from './step-name.ts'
import { type StepActions, StepRow } from './step-row.tsx'

/** The steps of a form, and their translations by the keys of steps. */
interface KeyedFields {
  steps: JsonValue[]
  i18n: JsonObject
}

/** The keys that translations and branches still have for steps whose typed key is that of another step at the moment. */
const ownKeys = new WeakMap<JsonObject, string>()

/** Sets the own key of a new step object: earlier states of the edit have the former objects. */
const withOwnKey = (step: JsonObject, key: string): JsonObject => {
  ownKeys.set(step, key)
  return step
}

const keyOf = (step: JsonValue) => asText(asObject(step).key)
const ownKeyOf = (step: JsonValue) => ownKeys.get(asObject(step)) ?? keyOf(step)

/** The fields after a key has become another one in translations, in branches, and for the step whose own key it is. */
const renamed = ({ steps, i18n }: KeyedFields, former: string, key: string): KeyedFields => ({
  steps: steps.map((each) => {
    if (!isObject(each)) return each
    const own = ownKeyOf(each)
    const next = withReferences(each, former, key)
    if (own === former) return withOwnKey({ ...next }, key)
    return next === each ? each : withOwnKey(next, own)
  }),
  i18n: withStepKey(i18n, former, key),
})

/** Makes the key of each step its own as soon as it differs from all others. Steps with the same own key keep it. */
const settled = (fields: KeyedFields): KeyedFields => {
  const { steps } = fields
  const step = steps.find(
    (each) =>
      ownKeyOf(each) !== keyOf(each) &&
      steps.every(
        (other) => other === each || (keyOf(other) !== keyOf(each) && ownKeyOf(other) !== ownKeyOf(each)),
      ),
  )
  if (step === undefined) return fields
  const [own, key] = [ownKeyOf(step), keyOf(step)]
  if (!steps.some((each) => ownKeyOf(each) === key)) return settled(renamed(fields, own, key))
  // The step whose own key it is has another one: the two exchange theirs.
  return settled(renamed(renamed(renamed(fields, key, '\0'), own, key), '\0', own))
}

/** The steps as a list: add, move, copy, remove, and open one to edit it. */
export const Steps = ({
  edit,
  openStep,
  disabled,
}: {
  edit: FormEdit
  /** The index of the step whose fields are shown. */
  openStep: Signal<number | undefined>
  disabled: boolean
}) => {
  const steps = asList(edit.fields.value.steps)
  const remarks = edit.remarks.value
  const worst = worstOfSteps(remarks)
  const about = remarksAt(remarks, 'form.steps')
  /** What has happened, for those who do not see it. */
  const announcement = useSignal('')
  const dragged = useSignal<number | undefined>(undefined)
  const list = useRef<HTMLOListElement>(null)
  const addField = useRef<HTMLSelectElement>(null)
  const focusLater = useFocusInRow(list)

  const saved = () => edit.base.peek().form.steps as readonly JsonValue[]
  const present = () => asList(edit.fields.peek().steps)
  const nameAt = (index: number) => nameOfStep(asObject(present()[index]))
  const i18n = () => asObject(edit.fields.peek().i18n)
  /** The key that translations of a step have. Undefined if they may be those of another step. */
  const ownKeyAt = (index: number): string | undefined => {
    const own = ownKeyOf(present()[index]!)
    return present().some((each, at) => at !== index && ownKeyOf(each) === own) ? undefined : own
  }
  /** What new keys differ from. */
  const taken = () => [...present(), ...present().map((each) => ({ key: ownKeyOf(each) })), ...saved()]
  /** An `i18n` that is no object stays, for the check to report it. */
  const changeBoth = (fields: KeyedFields) => {
    const { steps, i18n } = settled(fields)
    edit.change(isObject(edit.fields.peek().i18n) ? { steps, i18n } : { steps })
  }
  const replace = (next: JsonValue[], happened: string) => {
    announcement.value = happened
    edit.change({ steps: next })
  }
  const insert = (index: number, step: JsonValue, happened: string) => {
    openStep.value = index
    focusLater({ index, part: 'title' })
    replace(present().toSpliced(index, 0, step), happened)
  }
  const actions: StepActions = {
    toggle: (index) => {
      openStep.value = openStep.peek() === index ? undefined : index
    },
    move: (from, to, part) => {
      const name = nameAt(from)
      const next = [...present()]
      next.splice(to, 0, ...next.splice(from, 1))
      const open = openStep.peek()
      if (open !== undefined) openStep.value = movedIndex(open, from, to)
      focusLater({ index: to, part })
      replace(next, texts.steps.moved(name, to + 1))
    },
    remove: (index) => {
      const former = ownKeyAt(index)
      const name = nameAt(index)
      openStep.value = undefined
      focusLater({ index, part: 'name' })
      announcement.value = texts.steps.removed(name)
      changeBoth({
        steps: present().toSpliced(index, 1),
        i18n: former === undefined ? i18n() : withStepKey(i18n(), former, undefined),
      })
    },
    duplicate: (index) => {
      const name = nameAt(index)
      const step = asObject(present()[index])
      // Its branches refer to it by its own key.
      const copy = copyOfStep({ ...step, key: ownKeyOf(step) }, taken())
      insert(index + 1, copy, texts.steps.duplicated(name))
    },
    addBelow: (index) => insert(index + 1, newStep('text', taken()), texts.steps.added(index + 2)),
    change: (index, step) => {
      const former = ownKeyAt(index)
      if (former !== undefined) withOwnKey(step, former)
      const before = asList(asObject(present()[index]).options).map(labelOf)
      const places = formerPlaces(before, asList(step.options).map(labelOf))
      const isMoved = places.length !== before.length || places.some((place, at) => place !== at)
      changeBoth({
        steps: present().with(index, step),
        i18n: isMoved && former !== undefined ? withOptionsFrom(i18n(), former, places) : i18n(),
      })
    },
    changeTitle: (index, title) => {
      const step = asObject(present()[index])
      const others = present().toSpliced(index, 1)
      const titled = isTranslated(i18n(), asText(step.key))
        ? { ...step, title }
        : withTitle(step, title, others, saved())
      actions.change(index, titled)
    },
  }
  const add = (type: string) => {
    const end = steps.findIndex((each) => asObject(each).type === 'end')
    const index = type === 'start' ? 0 : type === 'end' || end === -1 ? steps.length : end
    insert(index, newStep(type, taken()), texts.steps.added(index + 1))
  }

  return (
    <section class="card" aria-labelledby="steps-heading">
      <h2 id="steps-heading" tabIndex={-1}>
        {texts.steps.title(steps.length)}
      </h2>
      <RemarkTexts violations={about.violations} />
      {!disabled && steps.length > 0 && (
        <Button class="skip" onClick={() => addField.current?.focus()}>
          {texts.steps.skip}
        </Button>
      )}
      <ol class="steps" ref={list}>
        {steps.map((step, index) => (
          <StepRow
            // Keys of steps may be missing or repeated while somebody types.
            key={index}
            step={asObject(step)}
            index={index}
            isLast={index === steps.length - 1}
            isOpen={openStep.value === index}
            worst={worst.get(index)}
            disabled={disabled}
            dragged={dragged}
            edit={edit}
            actions={actions}
          />
        ))}
      </ol>
      <p class="hidden" role="status">
        {announcement.value}
      </p>
      {!disabled && <AddStep field={addField} onAdd={add} />}
      {/* Below, where they move neither the rows nor the button when they arrive, and beside what adds an end. */}
      <RemarkTexts warnings={about.warnings} />
    </section>
  )
}

/** Where a step is after another one, or itself, has moved. */
const movedIndex = (index: number, from: number, to: number): number => {
  if (index === from) return to
  if (from < index && index <= to) return index - 1
  return to <= index && index < from ? index + 1 : index
}

const AddStep = ({
  field,
  onAdd,
}: {
  field: { current: HTMLSelectElement | null }
  onAdd: (type: string) => void
}) => {
  const type = useSignal('text')
  return (
    <div class="add-step">
      <label>
        {texts.steps.newType}{' '}
        <select
          ref={field}
          value={type.value}
          onInput={({ currentTarget }) => {
            type.value = currentTarget.value
          }}
        >
          {Object.keys(stepTypes).map((each) => (
            <option key={each} value={each}>
              {typeName(each)}
            </option>
          ))}
        </select>
      </label>
      <Button onClick={() => onAdd(type.value)}>{texts.steps.add}</Button>
    </div>
  )
}
