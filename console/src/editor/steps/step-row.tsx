import { memo } from '../../elements/memo.ts'
import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { StepFields } from './step-fields.tsx'

/** What the buttons of a row do. */
export interface StepActions {
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

const compared = ['isOpen', 'step', 'index', 'isLast', 'isInvalid', 'disabled'] as const

/**
 * A step in the list, with its fields if it is open. A closed one is drawn again only if one of the properties in `compared`
 * differs: a form has up to 1,000 of them. Actions read the present state of the edit, so those of an earlier drawing do
 * the same.
 */
export const StepRow = memo(
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
  (before, after) => !after.isOpen && compared.every((name) => before[name] === after[name]),
)
