/**
 * A change of a form: CloudEvents 1.0 with the `sequence` extension, at most 4 KiB of JSON. Ignore types and members that
 * you do not know.
 */
export interface FormEvent {
  specversion: '1.0'
  /** A UUID, the same wherever the event is seen, and on every repeat. */
  id: string
  /** `/v2/organizations/{organization_id}` */
  source: string
  /**
   * `form.created`, `form.updated`, `form.published`, `form.unpublished`, `form.rolledBack`, `form.deleted`, `form.undeleted`,
   * `form.purged`, `form.imported`, or a later one.
   */
  type: string
  /** The path of the form: `organizations/{organization_id}/forms/{form_id}` */
  subject: string
  /** Time of the change. Strictly increases for each form. RFC 3339, UTC, with milliseconds. */
  time: string
  datacontenttype: 'application/json'
  /** Position in the log of the organization, without gaps: 16 decimal digits, from `0000000000000001`. */
  sequence: string
  data: FormEventData
  [member: string]: unknown
}

/** The form of an event, and who changed what. The only content of the form is its name. */
export interface FormEventData {
  /** `organizations/{organization_id}/forms/{form_id}` */
  form: string
  publicId: string
  /** The name of the form after the change. */
  name: string
  /** The ETag of the draft after the change; `""` after a delete. */
  etag: string
  /** The ETag of the draft before the change; `""` for a new form. */
  previousEtag: string
  actor: Actor
  /** `x-request-id` of the request; `""` where there was none. */
  httpRequestId: string
  /** Of `form.updated` and `form.rolledBack`: the top-level members of the form that changed. */
  fields?: string[]
  /**
   * The path of a revision. Of `form.published`: the new one. Of `form.unpublished`: the one that was live. Of
   * `form.rolledBack`: the one that the draft was taken from.
   */
  revision?: string
  /** The number of that revision. */
  number?: number
  /** Of `form.unpublished`: the `note` of the request. Its end is cut off where the event would exceed 4 KiB. */
  note?: string
  /** Of `form.deleted`, and of `form.imported` for a deleted form: until when it can be restored. Absent where it cannot. */
  purgeTime?: string
  [member: string]: unknown
}

/** Who made a change: a user with an API key, or an operator with formctl. */
export type Actor = UserActor | OperatorActor

export interface UserActor {
  /** `users/{user_id}` */
  user: string
  /** Absent for changes that a gateway of release 0.1.0 has forwarded. */
  key?: ActorKey
}

/** The API key of a change. */
export interface ActorKey {
  id: string
  /** The first 8 characters after `fms_`. */
  prefix: string
}

export interface OperatorActor {
  operator: true
}
