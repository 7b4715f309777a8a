/** How the preview draws a step. */
export type StepKind =
  | 'start'
  | 'end'
  | 'statement'
  | 'text'
  | 'long-text'
  | 'choice'
  | 'multiple-choice'
  | 'rating'
  | 'scale'
  | 'ranking'
  | 'number'
  | 'email'
  | 'date'
  | 'time'
  | 'yes-no'
  | 'file'
  | 'payment'
  | 'unknown'

const kinds = new Map<string, StepKind>([
  ['start', 'start'],
  ['end', 'end'],
  ...kindOf('statement', 'statement'),
  ...kindOf('text', 'text', 'shorttext', 'name', 'phone', 'url', 'signature'),
  ...kindOf('long-text', 'longtext', 'textarea', 'paragraph'),
  ...kindOf('choice', 'choice', 'singlechoice', 'select', 'dropdown', 'radio'),
  ...kindOf('multiple-choice', 'multiplechoice', 'multiselect', 'checkboxes'),
  ...kindOf('rating', 'rating', 'stars'),
  ...kindOf('scale', 'scale', 'nps'),
  ...kindOf('ranking', 'ranking'),
  ...kindOf('number', 'number'),
  ...kindOf('email', 'email'),
  ...kindOf('date', 'date'),
  ...kindOf('time', 'time'),
  ...kindOf('file', 'file'),
  ...kindOf('payment', 'payment'),
  ...kindOf('yes-no', 'yesno', 'boolean'),
])

function kindOf(kind: StepKind, ...types: string[]): [string, StepKind][] {
  return types.map((type) => [type, kind])
}

/** The kind of a step; letter case, `-` and `_` of its type do not count. */
export const kindOfStep = ({ type }: { type: string }): StepKind =>
  kinds.get(type.toLowerCase().replaceAll(/[-_\s]/g, '')) ?? 'unknown'
