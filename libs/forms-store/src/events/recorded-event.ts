import { randomUUIDv7 } from 'node:crypto'
import {
  type Actor,
  type EventType,
  type FormEvent,
  type FormPath,
  formatSequence,
  formPath,
} from '@fms/contracts'
import type { ChangedForm, FormState, StoredDraft, StoredForm } from '../forms-store.ts'
import { formETag } from '../resource/form-to-json.ts'

/** Who makes a change, for its event. */
export interface ChangeContext {
  actor: Actor
  /** `x-request-id` of the request; `""` for none. */
  httpRequestId: string
}

/** The context of changes by operators' programs, such as formctl. */
export const operatorContext: ChangeContext = { actor: { operator: true }, httpRequestId: '' }

/** An event without its position in the log. */
export type RecordedEvent = Omit<FormEvent, 'sequence'> & Pick<FormEvent, 'id' | 'time'>

/** The form in an event. */
export type EventForm = FormState & Pick<StoredDraft, 'name'>

/** The parts of an event beside the form and the context. */
export interface EventFields {
  type: EventType
  /** The form before the change; undefined for a new one. */
  before?: FormState | undefined
  /** The form after the change; undefined for a delete. */
  after?: EventForm | undefined
  /** The time of the change. Moved to be later than `lastTime`. */
  time: Date
  /** The time of the form's previous event, in milliseconds since the epoch; 0 for none. */
  lastTime: number
  /** Members that only this type has. */
  more?: Record<string, unknown>
}

/**
 * Creates the event of a change.
 *
 * @param form the form as it is after the change, or was before a delete.
 */
export const recordedEvent = (
  form: EventForm,
  { type, before, after, time, lastTime, more }: EventFields,
  { actor, httpRequestId }: ChangeContext,
  id: string = randomUUIDv7(),
): RecordedEvent => {
  const path = formPath(form)
  return {
    specversion: '1.0',
    id,
    source: `/v2/organizations/${form.organizationId}`,
    type,
    subject: path,
    time: new Date(Math.max(time.getTime(), lastTime + 1)).toISOString(),
    datacontenttype: 'application/json',
    data: {
      form: path,
      publicId: form.publicId,
      name: form.name,
      etag: after ? formETag(after) : '',
      previousEtag: before ? formETag(before) : '',
      actor,
      httpRequestId,
      ...more,
    },
  }
}

/** Adds the position in the log. */
export const withSequence = (event: RecordedEvent, sequence: number): FormEvent => {
  const { data, ...attributes } = event
  return { ...attributes, sequence: formatSequence(sequence), data } as FormEvent
}

/** The ids in the subject of an event. */
export const formOfEvent = ({ subject }: Pick<FormEvent, 'subject'>): FormPath => {
  const [, organizationId = '', , formId = ''] = subject.split('/')
  return { organizationId, formId }
}

/** The names of the top-level members in which two drafts differ, in the order of the later draft. */
export const changedFields = (before: string, after: string): string[] => {
  const [old, current] = [JSON.parse(before), JSON.parse(after)]
  const names = new Set([...Object.keys(current), ...Object.keys(old)])
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(current[name]))
}

/** Separates a changed form from the names of its fields that changed, for the event. */
export const splitChange = (
  before: StoredForm,
  { changedFields: known, ...form }: ChangedForm,
): { form: StoredForm; fields: readonly string[] } => ({
  form,
  fields: known ?? changedFields(before.draftJson, form.draftJson),
})
