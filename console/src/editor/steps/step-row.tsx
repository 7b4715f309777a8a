import type { JsonValue } from '@fms/client'
import type { Signal } from '@preact/signals'
import { Button } from '../../elements/button.tsx'
import { Form } from '../../elements/form.tsx'
import { memo } from '../../elements/memo.ts'
import type { RemarkKind } from '../../elements/remark-texts.tsx'
import { asList, asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { RemarkBadge } from '../remark-list.tsx'
import { StepFields, typeName } from './step-fields.tsx'
import { nameOfStep } from './step-name.ts'

/** What the buttons and fields of a row do. */
export interface StepActions {
  toggle: (index: number) => void
  /** @param part what has the focus afterwards */
  move: (from: number, to: number, part: 'up' | 'down' | 'name') => void
  remove: (index: number) => void
  duplicate: (index: number) => void
  addBelow: (index: number) => void
  change: (index: number, step: JsonObject) => void
  changeTitle: (index: number, title: string) => void
}

interface StepRowProps {
  step: JsonObject
  index: number
  isLast: boolean
  isOpen: boolean
  /** The kind of the worst remark about it. */
  worst: RemarkKind | undefined
  disabled: boolean
  /** The index of the step that is dragged with the mouse. */
  dragged: Signal<number | undefined>
  edit: FormEdit
  actions: StepActions
}

const compared = ['isOpen', 'step', 'index', 'isLast', 'worst', 'disabled'] as const

/**
 * A step in the list, with its fields if it is open. A closed one is drawn again only if one of the properties in `compared`
 * differs: a form has up to 1,000 of them. Actions read the present state of the edit, so those of an earlier drawing do
 * the same.
 */
export const StepRow = memo(
  ({ step, index, isLast, isOpen, worst, disabled, dragged, edit, actions }: StepRowProps) => {
    const name = nameOfStep(step)
    const steps = asList(edit.fields.value.steps)
    return (
      <li
        class={worst === 'violations' ? 'invalid' : undefined}
        onDragOver={(event) => dragged.peek() !== undefined && event.preventDefault()}
        onDrop={(event) => {
          const from = dragged.peek()
          if (from === undefined) return
          event.preventDefault()
          actions.move(from, index, 'name')
        }}
      >
        <div class="step-row">
          {!disabled && (
            <span
              class="drag"
              aria-hidden="true"
              title={texts.steps.drag}
              draggable
              onDragStart={() => {
                dragged.value = index
              }}
              onDragEnd={() => {
                dragged.value = undefined
              }}
            >
              ⠿
            </span>
          )}
          <Button
            class="quiet step-name"
            data-part="name"
            aria-expanded={isOpen}
            onClick={() => actions.toggle(index)}
          >
            <span class="step-type">{typeName(asText(step.type))}</span> <bdi>{name}</bdi>
            <RemarkBadge kind={worst} />
          </Button>
          {!disabled && (
            <span class="step-actions">
              <Button
                class="quiet"
                data-part="up"
                disabled={index === 0}
                aria-label={texts.steps.moveUp(name)}
                onClick={() => actions.move(index, index - 1, 'up')}
              >
                ↑
              </Button>
              <Button
                class="quiet"
                data-part="down"
                disabled={isLast}
                aria-label={texts.steps.moveDown(name)}
                onClick={() => actions.move(index, index + 1, 'down')}
              >
                ↓
              </Button>
              <Button
                class="quiet"
                aria-label={texts.steps.remove(name)}
                onClick={() => actions.remove(index)}
              >
                ×
              </Button>
            </span>
          )}
        </div>
        {isOpen && (
          <>
            <StepFields
              step={step}
              steps={steps}
              field={`form.steps[${index}]`}
              remarks={edit.remarks.value}
              disabled={disabled}
              onTitle={(title) => actions.changeTitle(index, title)}
              onChange={(next) => actions.change(index, next)}
            />
            {!disabled && <Rearrange index={index} steps={steps} actions={actions} />}
          </>
        )}
      </li>
    )
  },
  (before, after) => !after.isOpen && compared.every((name) => before[name] === after[name]),
)

/** Buttons below the fields of a step. */
const Rearrange = ({
  index,
  steps,
  actions,
}: {
  index: number
  steps: readonly JsonValue[]
  actions: StepActions
}) => {
  const move = (form: HTMLFormElement) => {
    const place = Number(new FormData(form).get('place'))
    if (Number.isInteger(place) && place >= 1 && place <= steps.length) actions.move(index, place - 1, 'name')
  }
  return (
    <Form class="rearrange" onSubmit={move}>
      <Button onClick={() => actions.addBelow(index)}>{texts.steps.addBelow}</Button>
      <Button onClick={() => actions.duplicate(index)}>{texts.steps.duplicate}</Button>
      <label>
        {texts.steps.moveTo}{' '}
        <input
          key={index}
          name="place"
          type="number"
          min={1}
          max={steps.length}
          defaultValue={String(index + 1)}
        />
      </label>
      <button type="submit">{texts.steps.move}</button>
    </Form>
  )
}
