import type { Client } from '@fms/client'
import { useComputed, useSignal } from '@preact/signals'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { useLoaded } from '../elements/load.ts'
import { Page } from '../elements/page.tsx'
import { texts } from '../texts.ts'
import { type FormsQuery, orders } from './form-filter.ts'
import { FormsTable } from './forms-table.tsx'
import { NewFormDialog } from './new-form-dialog.tsx'
import { QueryFields } from './query-fields.tsx'
import { pageSize, readForms } from './read-forms.ts'

/** The forms of an organization. */
export const FormsPage = ({
  client,
  organization,
  mayWrite,
}: {
  client: Client
  organization: string
  mayWrite: boolean
}) => {
  const query = useSignal<FormsQuery>({ search: '', type: 'any', live: 'any', orderBy: orders[0] })
  const isCreating = useSignal(false)
  const number = useSignal(0)
  const pages = useComputed(() => {
    const abort = new AbortController()
    return { read: readForms(client, organization, query.value, abort.signal), abort }
  })
  const { loaded } = useLoaded((signal) => {
    const { read, abort } = pages.value
    signal.addEventListener('abort', () => pages.peek().abort !== abort && abort.abort())
    return read(number.value)
  })
  const { value, error, isLoading } = loaded.value

  const show = (change: Partial<FormsQuery>) => {
    number.value = 0
    query.value = { ...query.value, ...change }
  }
  return (
    <Page
      title={texts.forms.title}
      actions={
        mayWrite && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              isCreating.value = true
            }}
          >
            {texts.forms.new}
          </button>
        )
      }
    >
      <QueryFields query={query.value} onChange={show} />
      <ErrorNotice error={error} />
      <p role="status" class="small">
        {value?.totalSize === undefined
          ? isLoading
            ? texts.loading
            : ''
          : texts.forms.count(value.totalSize)}
      </p>
      {value && (
        <FormsTable client={client} organization={organization} forms={value.forms} mayWrite={mayWrite} />
      )}
      {value?.forms.length === 0 && <p>{texts.forms.none}</p>}
      {value && (number.value > 0 || value.hasNext) && (
        <nav class="pages" aria-label={texts.forms.pages}>
          <button type="button" disabled={number.value === 0} onClick={() => number.value--}>
            {texts.forms.previous}
          </button>
          <span>
            {texts.forms.range(number.value * pageSize + 1, number.value * pageSize + value.forms.length)}
          </span>
          <button type="button" disabled={!value.hasNext || isLoading} onClick={() => number.value++}>
            {texts.forms.next}
          </button>
        </nav>
      )}
      {isCreating.value && (
        <NewFormDialog
          client={client}
          organization={organization}
          onClose={() => {
            isCreating.value = false
          }}
        />
      )}
    </Page>
  )
}
