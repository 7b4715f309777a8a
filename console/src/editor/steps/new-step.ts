import type { JsonValue } from '@fms/client'
import { asObject, type JsonObject } from '../../json/values.ts'

/** Types of steps that the console offers. The service stores any other type, too. */
export const stepTypes = [
  'start',
  'text',
  'long-text',
  'choice',
  'multiple-choice',
  'rating',
  'number',
  'email',
  'date',
  'yes-no',
  'payment',
  'end',
] as const

/** A step with a key that no other step has. */
export const newStep = (type: string, steps: readonly JsonValue[]): JsonObject => {
  const keys = new Set(steps.map((step) => asObject(step).key))
  const keyOf = (number: number) => (number === 1 ? type : `${type}-${number}`)
  let number = 1
  while (keys.has(keyOf(number))) number++
  return { type, key: keyOf(number), title: '', ...(type.endsWith('choice') && { options: ['', ''] }) }
}
