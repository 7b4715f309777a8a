import type { Client } from '@fms/client'
import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { fieldsOf } from '../editor/fields-of-form.ts'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { SelectField, TextField } from '../elements/field.tsx'
import { useAction, useLoaded } from '../elements/load.ts'
import { Page } from '../elements/page.tsx'
import { Time } from '../elements/time.tsx'
import { goTo } from '../routing/navigation.ts'
import { hrefOf } from '../routing/routes.ts'
import { texts } from '../texts.ts'
import type { FormsQuery } from './form-filter.ts'
import { formsPages, type ListedForm, pageSize } from './forms-pages.ts'
import { NewFormDialog } from './new-form-dialog.tsx'
import { inLanes, type PublishState, readPublishState } from './publish-state.ts'

/** Delay after the last keystroke before a search. Milliseconds. */
const searchDelayMs = 200
/** Requests at once for the badges of a page. */
const badgeLanes = 4

const orders = ['updateTime desc', 'createTime desc', 'name', 'replyCount desc'] as const

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
    return { read: formsPages(client, organization, query.value, abort.signal), abort }
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

const QueryFields = ({
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
      <TextField
        label={texts.forms.search}
        type="search"
        value={search.value}
        onInput={(text) => {
          search.value = text
        }}
      />
      <SelectField
        label={texts.fields.type}
        value={query.type}
        options={(['any', 'structured', 'dynamic'] as const).map((value) => ({
          value,
          label: value === 'any' ? texts.forms.any : texts.types[value],
        }))}
        onInput={(type) => onChange({ type })}
      />
      <SelectField
        label={texts.forms.live}
        value={query.live}
        options={(['any', 'live', 'not-live'] as const).map((value) => ({
          value,
          label: texts.forms.liveChoices[value],
        }))}
        onInput={(live) => onChange({ live })}
      />
      <SelectField
        label={texts.forms.order}
        value={query.orderBy as (typeof orders)[number]}
        options={orders.map((value) => ({ value, label: texts.forms.orders[value] }))}
        onInput={(orderBy) => onChange({ orderBy })}
      />
    </search>
  )
}

const FormsTable = ({
  client,
  organization,
  forms,
  mayWrite,
}: {
  client: Client
  organization: string
  forms: ListedForm[]
  mayWrite: boolean
}) => {
  const { error, isRunning, run } = useAction()
  const duplicate = (form: ListedForm) =>
    run(async () => {
      const { form: original } = await client.forms.get(organization, form.publicId)
      const fields = { ...fieldsOf(original), name: texts.forms.copyOf(original.name).slice(0, 200) }
      const created = await client.forms.create(organization, fields)
      goTo({ page: 'edit', organization, form: created.form.publicId })
    })
  const states = usePublishStates(client, forms)
  return (
    <>
      <ErrorNotice error={error.value} />
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">{texts.fields.name}</th>
            <th scope="col">{texts.forms.state}</th>
            <th scope="col">{texts.forms.updated}</th>
            <th scope="col">{texts.forms.created}</th>
            <th scope="col" class="number">
              {texts.forms.replies}
            </th>
            {mayWrite && (
              <th scope="col">
                <span class="hidden">{texts.forms.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {forms.map((form) => (
            <tr key={form.path}>
              <th scope="row">
                <a href={hrefOf({ page: 'edit', organization, form: form.publicId })}>{form.name}</a>{' '}
                <span class="small">{texts.types[form.type]}</span>
              </th>
              <td>
                <StateBadge form={form} state={states.get(form.path)} />
              </td>
              <td data-label={texts.forms.updated}>
                <Time time={form.updateTime} />
              </td>
              <td data-label={texts.forms.created}>
                <Time time={form.createTime} />
              </td>
              <td class="number" data-label={texts.forms.replies}>
                {form.replyCount}
              </td>
              {mayWrite && (
                <td>
                  <button
                    type="button"
                    class="quiet"
                    disabled={isRunning.value}
                    aria-label={texts.forms.duplicateOf(form.name)}
                    onClick={() => duplicate(form)}
                  >
                    {texts.forms.duplicate}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const StateBadge = ({ form, state }: { form: ListedForm; state: PublishState | undefined }) => {
  const shown = state ?? (form.live ? 'live' : undefined)
  return shown ? (
    <span class={`badge ${shown}`} data-state={state}>
      {texts.states[shown]}
    </span>
  ) : null
}

/** The states of the forms of a page, by path. They arrive after the forms. */
const usePublishStates = (
  client: Client,
  forms: readonly ListedForm[],
): ReadonlyMap<string, PublishState> => {
  const shown = useSignal(forms)
  shown.value = forms
  const states = useSignal<ReadonlyMap<string, PublishState>>(new Map())
  useSignalEffect(() => {
    const abort = new AbortController()
    const read = async (form: ListedForm) => {
      const state = await readPublishState(client, form, abort.signal)
      states.value = new Map(states.peek()).set(form.path, state)
    }
    // A badge is an addition: without a connection the list stays as it is.
    inLanes(shown.value, badgeLanes, read).catch(() => {})
    return () => abort.abort()
  })
  return states.value
}
