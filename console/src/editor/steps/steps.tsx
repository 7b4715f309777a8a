import type { JsonValue } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { asList, asObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { ViolationTexts } from '../violation-list.tsx'
import { isInvalid, violationsAt } from '../violations.ts'
import { useFocusInRow } from './focus-in-row.ts'
import { newStep, stepTypes } from './new-step.ts'
import { type StepActions, StepRow } from './step-row.tsx'

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
      <ViolationTexts texts={violationsAt(violations, 'form.steps')} />
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
