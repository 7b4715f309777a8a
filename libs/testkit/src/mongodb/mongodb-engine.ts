/** A running server that speaks MongoDB's protocol, before a test chooses a database on it. */
export interface MongodbEngine {
  /** `mongodb://host:port`, possibly with a path and a query. */
  url: string
  /** @param version that the server's `buildInfo` reports. @returns name, version and origin, for the report of a test run. */
  describe(version: string): string
  /** The server's process; undefined where it does not run on this machine, or where Linux's `/proc` is missing. */
  pid?: number | undefined
  /** @param databaseUrl URL of the test's database. The engine drops the database or ends with it. */
  stop(databaseUrl: string): Promise<void>
}
