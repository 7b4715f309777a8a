/** An organization, which owns forms. */
export interface Organization {
  /** RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** An absolute http or https URL; null when no logo is configured. */
  logo: string | null
  /** Any JSON value; null when none is stored. */
  metadata: JsonValue
  /** 1 to 80 characters. */
  name: string
  /** `organizations/{organization_id}` */
  path: string
  /** Accepted in place of the id in paths. */
  slug: string
}

/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue }
