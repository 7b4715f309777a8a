/** How the preview draws steps, and the types that it draws so: in lower case, without `-` and `_`. */
const typesOf = {
  start: ['start'],
  end: ['end'],
  statement: ['statement'],
  text: ['text', 'shorttext', 'name', 'phone', 'url', 'signature'],
  'long-text': ['longtext', 'textarea', 'paragraph'],
  choice: ['choice', 'singlechoice', 'select', 'dropdown', 'radio'],
  'multiple-choice': ['multiplechoice', 'multiselect', 'checkboxes'],
  rating: ['rating', 'stars'],
  scale: ['scale', 'nps'],
  ranking: ['ranking'],
  number: ['number'],
  email: ['email'],
  date: ['date'],
  time: ['time'],
  file: ['file'],
  payment: ['payment'],
  'yes-no': ['yesno', 'boolean'],
}
type DrawnKind = keyof typeof typesOf
export type StepKind = DrawnKind | 'unknown'

const kinds = new Map(
  Object.entries(typesOf).flatMap(([kind, types]) => types.map((type) => [type, kind as DrawnKind])),
)

/** The kind of a step; letter case, `-` and `_` of its type do not count. */
export const kindOfStep = ({ type }: { type: string }): StepKind =>
  kinds.get(type.toLowerCase().replaceAll(/[-_\s]/g, '')) ?? 'unknown'
