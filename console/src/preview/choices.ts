import type { Step } from '@fms/client'
import { asText } from '../json/values.ts'
import { texts } from '../texts.ts'
import type { Answer } from './next-step.ts'
import { type Choice, optionsOf } from './shown-step.ts'
import { kindOfStep } from './step-kind.ts'

/** Most values of a rating or a scale that are drawn. */
const maxShownValues = 41

/** The answers that a question offers; none if respondents write theirs. @param options in the language to show */
export const choicesOf = (step: Step, options: readonly Choice[] = optionsOf(step)): readonly Choice[] => {
  const kind = kindOfStep(step)
  if (kind === 'choice' || kind === 'multiple-choice') return options
  if (kind === 'yes-no')
    return [
      { label: labelAt(step, 0, 2) || texts.preview.yes, value: 'yes' },
      { label: labelAt(step, 1, 2) || texts.preview.no, value: 'no' },
    ]
  if (kind !== 'rating' && kind !== 'scale') return []
  const values = kind === 'rating' ? valuesOf(step, 1, 5) : valuesOf(step, 0, 10)
  return values.map((value, index) => {
    const name = labelAt(step, index, values.length)
    return { label: name ? `${value} ${name}` : String(value), value: String(value) }
  })
}

/** Says that too few or too many options of a multiple choice are chosen; `""` if there is nothing to say. */
export const remarkOnChosen = (step: Step, answer: Answer = []): string => {
  if (kindOfStep(step) !== 'multiple-choice' || answer.length === 0) return ''
  const [min, max] = [integerOf(step, 'min', 0), integerOf(step, 'max', Infinity)]
  if (answer.length < min) return texts.preview.tooFew(min)
  return answer.length > max ? texts.preview.tooMany(max) : ''
}

/** A step is JSON: a member may have any value. */
export const memberOfStep = (step: Step, name: string): unknown =>
  (step as unknown as Record<string, unknown>)[name]

const integerOf = (step: Step, name: string, otherwise: number): number => {
  const value = memberOfStep(step, name)
  return Number.isInteger(value) ? (value as number) : otherwise
}

const valuesOf = (step: Step, defaultMin: number, defaultMax: number): number[] => {
  const min = integerOf(step, 'min', defaultMin)
  const max = integerOf(step, 'max', defaultMax)
  const width = Math.max(1, integerOf(step, 'step', 1))
  const count = Math.min(Math.floor((max - min) / width) + 1, maxShownValues)
  return Array.from({ length: Math.max(count, 1) }, (_, index) => min + index * width)
}

/** The label of a value: there is one for each, or two for the lowest and the highest. */
const labelAt = (step: Step, index: number, count: number): string => {
  const labels = memberOfStep(step, 'labels')
  if (!Array.isArray(labels)) return ''
  if (labels.length === count) return asText(labels[index])
  if (labels.length !== 2) return ''
  return asText(index === 0 ? labels[0] : index === count - 1 && labels[1])
}
