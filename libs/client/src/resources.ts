import type * as contracts from '@fms/contracts'
import type { z } from 'zod'

/** An owner of forms. */
export type Organization = contracts.Organization

/** A form as the API answers it: the current draft, and what the service knows of it. */
export type Form = contracts.Form

/** A draft as it was published. */
export type Revision = contracts.Revision

/** A screen of a form. */
export type Step = contracts.Step

/** A wrong place of a request, such as `form.steps[2].key`, and what is expected there. */
export type FieldViolation = contracts.FieldViolation

/** A rule that keeps a draft from being published, and the place that breaks it. */
export type PreconditionViolation = contracts.PreconditionViolation

/** A canonical status code (google.rpc.Code). */
export type Status = contracts.Status

/**
 * A JSON Merge Patch (RFC 7396) on a draft: what is left out stays as it is, objects merge, arrays are replaced
 * whole, `null` takes a field back to its default. What the service alone writes is ignored, so that a form that
 * was read may be sent back.
 */
export type FormPatch = Clearable<Patch<DraftInput>> & Partial<ServerOwned>

/** A new form: what is left out, or `null`, takes its default. */
export type FormInput = FormPatch

/** One page of a list (AIP-158). */
export interface Page<T> {
  items: T[]
  /** Items on all pages, as counted for this one. */
  totalSize: number
  /** `""` on the last page. */
  nextPageToken: string
}

/** As the schema takes it; what is in `i18n`, whose schema reads any value, is told by what it gives. */
type DraftInput = Omit<z.input<typeof contracts.FormDraft>, 'i18n'> & { i18n?: Loose<Form['i18n']> }

type ServerOwned = Pick<Form, (typeof contracts.serverOwnedFields)[number]>

type Unclearable = (typeof contracts.unclearableFields)[number]

type Clearable<T> = { [K in keyof T]: K extends Unclearable ? Exclude<T[K], null> : T[K] }

/** Arrays are values: inside them nothing merges and nothing is cleared. */
type Patch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Patch<T[K]> | null }
    : T

type Loose<T> = T extends string | number | boolean ? T : { [K in keyof T]?: Loose<T[K]> }
