const maxLength = 500

/**
 * The path of a field as errors name it: `['form', 'steps', 2, 'key']` is `form.steps[2].key`.
 *
 * Paths hold names that a client made up, so the text ends with `…` after 500 characters and is always
 * well-formed Unicode.
 */
export const fieldPath = (path: readonly PropertyKey[]): string => {
  let text = ''
  for (const [index, part] of path.entries()) {
    if (typeof part === 'number') text += `[${part}]`
    else text += index === 0 ? String(part) : `.${String(part)}`
    if (text.length > maxLength) return `${text.slice(0, maxLength)}…`.toWellFormed()
  }
  return text.toWellFormed()
}
