import type { JsonPath } from './schema-at.ts'

/**
 * Reads a field path of an error, such as `form.steps[2].key`, relative to the form. A member whose name has a dot is
 * split; {@link rangeOf} then finds the closest value around it.
 */
export const jsonPathOf = (field: string): JsonPath =>
  [...field.replace(/^form\.?/, '').matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([text, index]) =>
    index === undefined ? text : Number(index),
  )
