import type { SchemaVersion } from './schema-version.ts'

export interface StoreState extends SchemaVersion {
  engine: 'SQLite' | 'MongoDB'
  /** Version of the engine, such as `8.0.17`. */
  engineVersion: string
  /** Version of the schema that this release needs. */
  neededVersion: number
  /**
   * Seconds until the engine aborts a killed process's transaction; absent for SQLite. `forbidden`: without the right.
   */
  transactionLifetime?: number | 'forbidden' | 'not reported'
  /** Why the store rejects writes; absent while it accepts them. */
  refusesWrites?: string
  /** Time of the engine's clock; absent where the engine runs in this process. */
  time?: Date
}

export interface MigrationStep {
  store: string
  /** What the step does, such as `index forms_by_name`. */
  title: string
  /** From 1 to `of`. */
  number: number
  of: number
}
