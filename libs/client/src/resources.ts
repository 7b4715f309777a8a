import type { Form, FormPatch, Membership } from './schemas.generated.ts'

/** A new form: an omitted or `null` field takes its default. */
export type FormInput = FormPatch

/** Output-only fields (AIP-203): ignored in requests. */
export type ServerOwnedFields = Pick<
  Form,
  'createTime' | 'live' | 'path' | 'publicId' | 'publicUrl' | 'replyCount' | 'updateTime'
>

/** The role of a member. A viewer reads; editors and owners also write and publish. */
export type Role = Membership['role']

/** A patch of an object without nested objects: an omitted field stays unchanged, `null` resets it to its default. */
export type Merge<T> = { [K in keyof T]?: T[K] | null }
