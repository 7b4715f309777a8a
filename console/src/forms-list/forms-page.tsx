import { batch, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { Button } from '../elements/button.tsx'
import { type OrganizationProps, Page } from '../elements/page.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { session } from '../session/session.ts'
import { texts } from '../texts.ts'
import { type FormsQuery, orders } from './form-filter.ts'
import { FormsTable } from './forms-table.tsx'
import { NewFormDialog } from './new-form-dialog.tsx'
import { QueryFields } from './query-fields.tsx'
import { pageSize, readForms } from './read-forms.ts'

const everything: FormsQuery = { search: '', type: 'any', live: 'any', orderBy: orders[0] }

/** What the list shows. Its history entry has it: Back and reload restore it, and a new visit starts without it. */
interface ListState {
  /** Whose search it is: the next user of the tab does not see it. */
  userPath: string
  query: FormsQuery
  /** The page, from 0. */
  number: number
}

/** The forms of an organization. Search and page are there again after Back. */
export const FormsPage = ({ client, organization, mayWrite }: OrganizationProps & { mayWrite: boolean }) => {
  const { userPath } = session.peek()!
  const state: ListState | null = history.state
  const kept = state?.userPath === userPath ? state : undefined
  const query = useSignal<FormsQuery>(kept?.query ?? everything)
  const isCreating = useSignal(false)
  // An object, so that a page whose reading failed can be chosen again.
  const chosen = useSignal({ number: kept?.number ?? 0 })
  useSignalEffect(() => {
    const shown: ListState = { userPath, query: query.value, number: chosen.value.number }
    history.replaceState(shown, '')
  })
  const read = useComputed(() => readForms(client, organization, query.value))
  const { loaded, reload } = useLoaded((signal) => read.value(chosen.value.number, signal))
  const { value, isLoading } = loaded.value

  const show = (change: Partial<FormsQuery>) =>
    batch(() => {
      chosen.value = { number: 0 }
      query.value = { ...query.value, ...change }
    })
  const goToPage = (number: number) => {
    chosen.value = { number }
  }
  return (
    <Page
      title={texts.forms.title}
      actions={
        mayWrite && (
          <Button
            class="primary"
            onClick={() => {
              isCreating.value = true
            }}
          >
            {texts.forms.new}
          </Button>
        )
      }
    >
      <QueryFields query={query.value} onChange={show} />
      <LoadError loaded={loaded.value} reload={reload} />
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
      {value && (value.number > 0 || value.hasNext) && (
        <nav class="pages" aria-label={texts.forms.pages}>
          <Button aria-disabled={value.number === 0} onClick={() => goToPage(value.number - 1)}>
            {texts.forms.previous}
          </Button>
          <span>
            {texts.forms.range(value.number * pageSize + 1, value.number * pageSize + value.forms.length)}
          </span>
          <Button aria-disabled={!value.hasNext || isLoading} onClick={() => goToPage(value.number + 1)}>
            {texts.forms.next}
          </Button>
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
