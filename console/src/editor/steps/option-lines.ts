import type { JsonValue } from '@fms/client'
import { asObject, asText, isObject } from '../../json/values.ts'

/** What respondents read of an option: a text, or the label of an object. */
export const labelOf = (option: JsonValue): string => asText(option) || asText(asObject(option).label)

/** Options with the labels of these lines. An option keeps its key while somebody types its label. */
export const withLabels = (options: readonly JsonValue[], lines: readonly string[]): JsonValue[] => {
  const former = formerPlaces(options.map(labelOf), lines)
  return lines.map((label, index) => {
    const option = options[former[index] ?? -1]
    return isObject(option) ? { ...option, label } : label
  })
}

/**
 * Where each line was before somebody typed or pasted; undefined for a new one. The lines that are equal at both ends are the
 * same ones, and those between keep their place.
 */
export const formerPlaces = (
  before: readonly string[],
  after: readonly string[],
): readonly (number | undefined)[] => {
  const shift = before.length - after.length
  const changed = after.findIndex((line, index) => line !== before[index])
  const begin = changed === -1 ? after.length : changed
  let end = after.length
  while (end > begin && end + shift > begin && after[end - 1] === before[end - 1 + shift]) end--
  return after.map((_, index) => {
    if (index >= end) return index + shift
    return index < end + shift ? index : undefined
  })
}
