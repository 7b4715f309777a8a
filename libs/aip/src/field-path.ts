const maxLength = 500

/**
 * Formats the path of a field for errors: `['form', 'steps', 2, 'key']` becomes `form.steps[2].key`.
 *
 * Paths contain names from the request, so the result is cut off with `…` after 500 characters and is well-formed
 * Unicode.
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
