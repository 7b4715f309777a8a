/**
 * The names and indexes in a path of a field, such as `form.steps[2].title` or `steps[fee].title`.
 * A member whose name has a dot is split.
 */
export const namesInField = (field: string): string[] =>
  field
    .replace(/^form\./, '')
    .split(/[.[\]]+/)
    .filter((name) => name !== '')
