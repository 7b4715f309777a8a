import { useSignal, useSignalEffect } from '@preact/signals'
import { formTypes } from '../editor/edits/fields-of-form.ts'
import { keptIn, SelectField, TextField } from '../elements/field.tsx'
import { texts } from '../texts.ts'
import { type FormsQuery, orders } from './form-filter.ts'

/** Delay after the last keystroke before a search. Milliseconds. */
const searchDelayMs = 200

/** What the list shows: a search as one types, filters, the order. */
export const QueryFields = ({
  query,
  onChange,
}: {
  query: FormsQuery
  onChange: (change: Partial<FormsQuery>) => void
}) => {
  const search = useSignal(query.search)
  useSignalEffect(() => {
    const text = search.value
    if (text === query.search) return
    const timer = setTimeout(() => onChange({ search: text }), searchDelayMs)
    return () => clearTimeout(timer)
  })
  return (
    <search class="row">
      <TextField label={texts.forms.search} type="search" {...keptIn(search)} />
      <SelectField
        label={texts.fields.type}
        value={query.type}
        options={['any', ...formTypes]}
        labels={{ any: texts.forms.any, ...texts.types }}
        onInput={(type) => onChange({ type })}
      />
      <SelectField
        label={texts.forms.live}
        value={query.live}
        options={['any', 'live', 'not-live']}
        labels={texts.forms.liveChoices}
        onInput={(live) => onChange({ live })}
      />
      <SelectField
        label={texts.forms.order}
        value={query.orderBy}
        options={orders}
        labels={texts.forms.orders}
        onInput={(orderBy) => onChange({ orderBy })}
      />
    </search>
  )
}
