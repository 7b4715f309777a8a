const maxLength = 500

/**
 * The path of a field as errors name it: `['form', 'steps', 2, 'key']` is `form.steps[2].key`.
 *
 * Paths hold names that a client made up, so the text ends with `…` after 500 characters and is always
 * well-formed Unicode.
 */
export const fieldPath = (path: readonly PropertyKey[]): string => {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text).toWellFormed()
}
