/** The result of one check. */
export interface Check {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  /** What to do; absent if nothing has to be done. */
  advice?: string
}

export const ok = (check: string, message: string): Check => ({ check, status: 'ok', message })

/** It works, but the operator should know. */
export const warn = (check: string, message: string, advice: string): Check => ({
  check,
  status: 'warn',
  message,
  advice,
})

/** Something does not work. */
export const fail = (check: string, message: string, advice: string): Check => ({
  check,
  status: 'fail',
  message,
  advice,
})

/** The message of an error. Prefers the driver's message, since ours is for clients of the API. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
