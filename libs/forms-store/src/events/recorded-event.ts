import { isDeepStrictEqual } from 'node:util'
import {
  type EventData,
  type EventType,
  type FormDraft,
  type FormEvent,
  type FormPath,
  formatSequence,
  formPath,
  maxEventBytes,
} from '@fms/contracts'
import type { FormMetadata, RestoredRevision, StoredDraft } from '../forms-store.ts'
import type { ChangeContext } from '../identified-request.ts'
import { formETag } from '../resource/form-to-json.ts'

export type RecordedEvent = Omit<FormEvent, 'sequence'> & Pick<FormEvent, 'id' | 'time'> & { type: EventType }

export type EventForm = FormMetadata & Pick<StoredDraft, 'name'>

/** The parts of an event beside the form and the context. */
export interface EventFields {
  type: EventType
  /** The form before the change; undefined for a new one. */
  before?: FormMetadata | undefined
  /** The form after the change; undefined for a delete. */
  after?: EventForm | undefined
  /** The time of the change. Moved to be later than `lastTime`. */
  time: Date
  lastTime: Date
  /** Members that only this type has. */
  more?: Record<string, unknown> | undefined
}

/** Creates the event of a change. @param form the form as it is after the change, or was before a delete. */
export const recordedEvent = (
  form: EventForm,
  { type, before, after, time, lastTime, more }: EventFields,
  { actor, httpRequestId }: ChangeContext,
  id: string,
): RecordedEvent => {
  const path = formPath(form)
  return withShortNote({
    specversion: '1.0',
    id,
    source: `/v2/organizations/${form.organizationId}`,
    type,
    subject: path,
    time: new Date(Math.max(time.getTime(), lastTime.getTime() + 1)).toISOString(),
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
  })
}

/** Size of the member `sequence` in JSON, which an event gets last. */
const sequenceBytes = Buffer.byteLength(`,"sequence":"${formatSequence(0)}"`)

/** The size of an event in its log, as JSON in UTF-8. */
export const eventBytesOf = (event: RecordedEvent | FormEvent): number =>
  Buffer.byteLength(JSON.stringify(event)) + ('sequence' in event ? 0 : sequenceBytes)

/** Cuts the end of the note off where the event would be larger than {@link maxEventBytes}. */
const withShortNote = (event: RecordedEvent): RecordedEvent => {
  const data = event.data as EventData
  const { note } = data
  if (note === undefined) return event
  const characters = [...note]
  let excess = eventBytesOf(event) - maxEventBytes
  if (excess <= 0) return event
  while (excess > 0 && characters.length > 0) excess -= jsonBytes(characters.pop()!)
  return { ...event, data: { ...data, note: characters.join('') } }
}

const jsonBytes = (character: string): number => Buffer.byteLength(JSON.stringify(character)) - '""'.length

export const withSequence = (event: RecordedEvent, sequence: number): FormEvent => {
  const { data, ...attributes } = event
  return { ...attributes, sequence: formatSequence(sequence), data } as FormEvent
}

export const formOfEvent = ({ subject }: Pick<FormEvent, 'subject'>): FormPath => {
  const [, organizationId = '', , formId = ''] = subject.split('/')
  return { organizationId, formId }
}

export const revisionMembers = (form: FormPath, { revisionId, number }: RestoredRevision) => ({
  revision: `${formPath(form)}/revisions/${revisionId}`,
  number,
})

/** The names of the top-level members in which two drafts differ, in the order of the later draft. */
export const changedFields = (before: FormDraft, after: FormDraft): string[] => {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]) as Set<keyof FormDraft>
  return [...names].filter(
    (name) =>
      JSON.stringify(before[name]) !== JSON.stringify(after[name]) &&
      !isDeepStrictEqual(before[name], after[name]),
  )
}
