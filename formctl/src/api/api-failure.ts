/** A request to the API that failed. */
export class ApiFailure extends Error {
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined

  constructor(message: string, status: number | undefined, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ApiFailure'
    this.status = status
  }

  /** Whether the request may have been carried out: there is no response, or it reports a failure of the service. */
  get isUncertain(): boolean {
    return this.status === undefined || this.status >= 500
  }
}
