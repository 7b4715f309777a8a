/** One thing that was looked at. */
export interface Check {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  /** What to do; absent where nothing has to be done. */
  advice?: string
}

export const ok = (check: string, message: string): Check => ({ check, status: 'ok', message })

/** It works, but somebody should know. */
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

/** What an error says, the driver's own words first: ours are meant for clients of the API. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
