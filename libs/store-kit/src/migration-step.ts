/** Progress of a migration: the step that runs. */
export interface MigrationStep {
  /** Name of the store. */
  store: string
  /** What the step does, such as `index forms_by_name`. */
  title: string
  /** From 1 to `of`. */
  number: number
  /** How many steps the migration has. */
  of: number
  /** How many documents the step has changed so far; 0 for steps that change none. */
  changed: number
}
