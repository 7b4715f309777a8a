import type { JsonValue } from '@fms/client'
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { memo } from '../../elements/memo.ts'
import { asList, asObject, asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { isInvalid, violationsAt } from '../violations.ts'
import { newStep, stepTypes } from './new-step.ts'
import { StepFields } from './step-fields.tsx'

/** The steps as a list: add, move, remove, and open one to edit it. */
export const Steps = ({ edit, disabled }: { edit: FormEdit; disabled: boolean }) => {
  const open = useSignal<number | undefined>(undefined)
  const steps = asList(edit.fields.value.steps)
  const violations = edit.violations.value

  const list = useRef<HTMLOListElement>(null)
  const focusLater = useFocusInRow(list)

  const replace = (next: JsonValue[]) => edit.change({ steps: next })
  const actions: StepActions = {
    toggle: (index) => {
      open.value = open.value === index ? undefined : index
    },
    move: (index, by) => {
      const next = [...asList(edit.fields.peek().steps)]
      next.splice(index + by, 0, ...next.splice(index, 1))
      if (open.value === index) open.value = index + by
      focusLater({ index: index + by, part: by === -1 ? 'up' : 'down' })
      replace(next)
    },
    remove: (index) => {
      open.value = undefined
      focusLater({ index, part: 'name' })
      replace(asList(edit.fields.peek().steps).filter((_, each) => each !== index))
    },
    change: (index, step) => {
      replace(asList(edit.fields.peek().steps).map((each, at) => (at === index ? step : each)))
    },
  }
  const add = (type: string) => {
    const step = newStep(type, steps)
    const end = steps.findIndex((each) => asObject(each).type === 'end')
    const index = type === 'start' ? 0 : type === 'end' || end === -1 ? steps.length : end
    replace(steps.toSpliced(index, 0, step))
    open.value = index
  }

  return (
    <section class="card" aria-labelledby="steps-heading">
      <h2 id="steps-heading" tabIndex={-1}>
        {texts.steps.title(steps.length)}
      </h2>
      {violationsAt(violations, 'form.steps').map((violation) => (
        <p key={violation} class="violation">
          {violation}
        </p>
      ))}
      <ol class="steps" ref={list}>
        {steps.map((step, index) => (
          <StepRow
            // Keys of steps may be missing or repeated while somebody types.
            key={index}
            step={asObject(step)}
            index={index}
            isLast={index === steps.length - 1}
            isOpen={open.value === index}
            isInvalid={violations.length > 0 && isInvalid(violations, `form.steps[${index}]`)}
            disabled={disabled}
            edit={edit}
            actions={actions}
          />
        ))}
      </ol>
      {!disabled && <AddStep onAdd={add} />}
    </section>
  )
}

/** A button in the row of a step. */
interface RowPart {
  index: number
  part: 'up' | 'down' | 'name'
}

/**
 * Moves the focus after the rows are drawn anew, since rows stay in place while steps move: to a button of the row, to
 * its other arrow if the step has arrived at an end, to the last row if there is no such row, or to the heading.
 */
const useFocusInRow = (list: RefObject<HTMLOListElement | null>): ((to: RowPart) => void) => {
  const due = useRef<RowPart | undefined>(undefined)
  useLayoutEffect(() => {
    if (due.current === undefined || list.current === null) return
    const { index, part } = due.current
    due.current = undefined
    const row = list.current.children[index] ?? list.current.lastElementChild
    const heading = list.current.parentElement!.querySelector('h2')!
    const button =
      row?.querySelector<HTMLElement>(`[data-part=${part}]:enabled`) ??
      row?.querySelector<HTMLElement>('.step-actions :enabled')
    const target = button ?? heading
    target.focus()
  })
  return (to) => {
    due.current = to
  }
}

interface StepActions {
  toggle: (index: number) => void
  move: (index: number, by: -1 | 1) => void
  remove: (index: number) => void
  change: (index: number, step: JsonObject) => void
}

interface StepRowProps {
  step: JsonObject
  index: number
  isLast: boolean
  isOpen: boolean
  isInvalid: boolean
  disabled: boolean
  edit: FormEdit
  actions: StepActions
}

/** Drawn again only if the step itself changes: a form has up to 1,000 of them. */
const StepRow = memo(
  ({ step, index, isLast, isOpen, isInvalid, disabled, edit, actions }: StepRowProps) => {
    const name = asText(step.title) || asText(step.key) || texts.steps.untitled
    const { toggle, move, remove, change } = actions
    return (
      <li class={isInvalid ? 'invalid' : undefined}>
        <div class="step-row">
          <button
            type="button"
            class="quiet step-name"
            data-part="name"
            aria-expanded={isOpen}
            onClick={() => toggle(index)}
          >
            {name !== asText(step.type) && <span class="step-type">{asText(step.type)}</span>}{' '}
            <bdi>{name}</bdi>
            {isInvalid && <span class="badge bad">{texts.steps.invalid}</span>}
          </button>
          {!disabled && (
            <span class="step-actions">
              <button
                type="button"
                class="quiet"
                data-part="up"
                disabled={index === 0}
                aria-label={texts.steps.moveUp(name)}
                onClick={() => move(index, -1)}
              >
                ↑
              </button>
              <button
                type="button"
                class="quiet"
                data-part="down"
                disabled={isLast}
                aria-label={texts.steps.moveDown(name)}
                onClick={() => move(index, 1)}
              >
                ↓
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={texts.steps.remove(name)}
                onClick={() => remove(index)}
              >
                ×
              </button>
            </span>
          )}
        </div>
        {isOpen && (
          <StepFields
            step={step}
            field={`form.steps[${index}]`}
            violations={edit.violations.value}
            disabled={disabled}
            onChange={(next) => change(index, next)}
          />
        )}
      </li>
    )
  },
  (before, after) =>
    !after.isOpen &&
    before.isOpen === after.isOpen &&
    before.step === after.step &&
    before.index === after.index &&
    before.isLast === after.isLast &&
    before.isInvalid === after.isInvalid &&
    before.disabled === after.disabled,
)

const AddStep = ({ onAdd }: { onAdd: (type: string) => void }) => {
  const type = useSignal<string>('text')
  return (
    <div class="add-step">
      <label>
        {texts.steps.newType}{' '}
        <select
          value={type.value}
          onInput={({ currentTarget }) => {
            type.value = currentTarget.value
          }}
        >
          {stepTypes.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => onAdd(type.value)}>
        {texts.steps.add}
      </button>
    </div>
  )
}
