import type { OpenStep, OpenType, Step } from './schemas.generated.ts'

/** A type of steps that the catalogue has. */
type KnownType = Exclude<Step, OpenStep>['type']

/** Marks a type of steps that the catalogue does not have, so that a misspelt type does not compile without it. */
export const openType = <T extends string>(type: T extends KnownType ? never : T): OpenType =>
  type as string as OpenType
