/** Most characters of a value that is shown. */
const maxLength = 300

/** A text that is cut off with an ellipsis where it is too long to be shown. */
export const shortened = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
