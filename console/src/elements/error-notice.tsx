import { FormsApiError, FormsConnectionError } from '@fms/client'
import { texts } from '../texts.ts'

/**
 * An error: its message, its reason, then each violation. Renders nothing for undefined.
 *
 * @param wordsOf names a field for people
 */
export const ErrorNotice = ({ error, wordsOf }: { error: unknown; wordsOf?: (field: string) => string }) => {
  if (error === undefined) return null
  const { message, reason, violations, requestId } = describe(error)
  return (
    <div class="notice error" role="alert">
      <p>{message}</p>
      {reason && (
        <p class="small">
          {texts.errors.reason} <code>{reason}</code>
          {requestId && (
            <>
              {' · '}
              {texts.errors.requestId} <code>{requestId}</code>
            </>
          )}
        </p>
      )}
      {violations.length > 0 && (
        <ul>
          {violations.map(({ where, what }) => (
            <li key={`${where} ${what}`}>
              {wordsOf ? `${wordsOf(where)}:` : <code>{where}</code>} {what}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** An error in words, without details. */
export const messageOf = (error: unknown): string => describe(error).message

const describe = (error: unknown) => {
  if (error instanceof FormsApiError) {
    const { message, reason, requestId, fieldViolations, preconditionViolations } = error
    const violations = [
      ...fieldViolations.map(({ field, description }) => ({ where: field, what: description })),
      ...preconditionViolations.map(({ subject, description }) => ({ where: subject, what: description })),
    ]
    return { message: texts.errors.ofReason[reason] ?? message, reason, requestId, violations }
  }
  const message =
    error instanceof FormsConnectionError
      ? texts.errors.noConnection
      : error instanceof Error
        ? error.message
        : String(error)
  return { message, reason: undefined, requestId: undefined, violations: [] }
}
