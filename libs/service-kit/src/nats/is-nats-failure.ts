import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from 'nats'

/** What the client throws when the server is away, refuses a request, or does not respond. */
const failures = [
  errors.AuthorizationError,
  errors.ClosedConnectionError,
  errors.ConnectionError,
  errors.DrainingConnectionError,
  errors.NoRespondersError,
  errors.PermissionViolationError,
  errors.RequestError,
  errors.TimeoutError,
  errors.UserAuthenticationExpiredError,
  JetStreamApiError,
  JetStreamError,
]

/** Whether an error is a failure of NATS or of the connection to it, and no defect of the caller. */
export const isNatsFailure = (error: unknown): boolean => failures.some((each) => error instanceof each)
