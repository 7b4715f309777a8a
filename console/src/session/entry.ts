import { FormsApiError, FormsConnectionError } from '@fms/client'
import { signal } from '@preact/signals'
import {
  type OfferedLink,
  offeredLink,
  openLoginLink,
  resumeSession,
  session,
  signInWithCode,
} from './session.ts'

/** The error of the last login link, or of the session that could not be continued. */
export const entryError = signal<unknown>(undefined)

/** The code of a login link that did not reach the service yet. */
let unsentCode: string | undefined

/** Opens a login link, or continues the session of this tab. Sets `entryError`. */
export const enterConsole = (code = unsentCode): Promise<void> => attempt(code, () => enter(code))

/** Drops the login link that failed, and its error. */
export const forgetLink = (): void => {
  unsentCode = undefined
  entryError.value = undefined
}

/** Signs in with a link that somebody has agreed to. Sets `entryError`. */
export const signInByLink = ({ code }: OfferedLink): Promise<void> => {
  offeredLink.value = undefined
  return attempt(code, () => signInWithCode(code))
}

const attempt = async (code: string | undefined, action: () => Promise<void>): Promise<void> => {
  const error = await action().then(
    () => undefined,
    (error: unknown) => error,
  )
  unsentCode = isRetryable(error) ? code : undefined
  entryError.value = error
}

/** The session of the tab comes first: the user of the link may be another one. */
const enter = async (code: string | undefined): Promise<void> => {
  if (!session.peek()) {
    await resumeSession().catch((error: unknown) => {
      if (code === undefined || isRetryable(error)) throw error
    })
  }
  if (code !== undefined) await openLoginLink(code)
}

/** Whether the service may accept the same request later: it did not respond, or was not ready. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof FormsConnectionError ||
  (error instanceof FormsApiError && (error.code >= 500 || error.code === 429))
