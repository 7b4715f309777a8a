import type { Form, FormPatch, Membership, OpenStep, OpenType, Step } from './schemas.generated.ts'

/** A new form: an omitted or `null` field takes its default. */
export type FormInput = FormPatch

/** Output-only fields (AIP-203): ignored in requests. */
export type ServerOwnedFields = Pick<
  Form,
  'createTime' | 'live' | 'path' | 'publicId' | 'publicUrl' | 'replyCount' | 'updateTime'
>

/** The role of a member. A viewer reads; editors and owners also write and publish. */
export type Role = Membership['role']

type KnownType = Exclude<Step, OpenStep>['type']

/** Marks a type of steps that the catalogue does not have, so that a misspelt type does not compile without it. */
export const openType = <T extends string>(type: T extends KnownType ? never : T): OpenType =>
  type as string as OpenType
