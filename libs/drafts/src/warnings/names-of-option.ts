/** The text of an option, and its answer: its key, or its text if it has none. Undefined if it is of another kind than expected. */
export const namesOfOption = (option: unknown): { label: string; answer: string } | undefined => {
  const { key = '', label = option } = Object(option) as Record<string, unknown>
  return typeof key === 'string' && typeof label === 'string' ? { label, answer: key || label } : undefined
}
