/** What went wrong first, and not what went wrong while everything was stopped because of it. */
export const messageOf = (error: unknown): string => {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : `${error}`
}
