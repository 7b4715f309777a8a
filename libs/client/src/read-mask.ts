/** The option of a read or list that returns only some members (AIP-157). */
export interface MaskOptions {
  /** The members to return, as comma-separated paths such as `name,theme.primaryColor`; at most 2,000 characters. */
  readMask: string
}

/** A resource that has only the members of a mask. Arrays are whole. */
export type Masked<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Masked<T[K]> }
    : T
