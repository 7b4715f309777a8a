import type { FormChange, Step } from '@fms/client'
import { asText } from '../json/values.ts'

/** The steps of the two states of a comparison. */
export interface ComparedSteps {
  from: readonly Step[]
  to: readonly Step[]
}

/** The title of the step that a change is in, or its key. @returns undefined if the change is in no step */
export const stepNameOf = (
  { fromPointer, toPointer }: Pick<FormChange, 'fromPointer' | 'toPointer'>,
  { from, to }: ComparedSteps,
): string | undefined => {
  const step = stepAt(toPointer, to) ?? stepAt(fromPointer, from)
  return step && (asText(step.title) || asText(step.key))
}

/** @param pointer a JSON Pointer (RFC 6901) such as `/steps/2/title` */
const stepAt = (pointer: string | undefined, steps: readonly Step[]): Step | undefined => {
  const index = /^\/steps\/(\d+)(?=\/|$)/.exec(pointer ?? '')?.[1]
  return index === undefined ? undefined : steps[Number(index)]
}
