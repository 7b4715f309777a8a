import type { Client } from '@fms/client'
import { useSignal, useSignalEffect } from '@preact/signals'
import { fieldsOf } from '../editor/edits/fields-of-form.ts'
import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import type { OrganizationProps } from '../elements/page.tsx'
import { type Column, Table } from '../elements/table.tsx'
import { Time } from '../elements/time.tsx'
import { goTo } from '../routing/navigation.ts'
import { hrefOf } from '../routing/routes.ts'
import { texts } from '../texts.ts'
import { nameOfCopy } from './name-of-copy.ts'
import { inLanes, type PublishState, readPublishState } from './publish-state.ts'
import type { ListedForm } from './read-forms.ts'

/** Requests at once for the badges of a page. */
const badgeLanes = 4

export const FormsTable = ({
  client,
  organization,
  forms,
  mayWrite,
}: OrganizationProps & { forms: ListedForm[]; mayWrite: boolean }) => {
  const { error, isRunning, run } = useAction()
  const duplicate = (form: ListedForm) =>
    run(async () => {
      const { form: original } = await client.forms.get(organization, form.publicId)
      const fields = { ...fieldsOf(original), name: nameOfCopy(original.name) }
      const created = await client.forms.create(organization, fields)
      goTo({ page: 'edit', organization, form: created.form.publicId })
    })
  const states = usePublishStates(client, forms)
  const columns: Column<ListedForm>[] = [
    {
      label: texts.fields.name,
      kind: 'name',
      cell: ({ publicId, name, type }) => (
        <>
          <a href={hrefOf({ page: 'edit', organization, form: publicId })}>
            <bdi>{name}</bdi>
          </a>{' '}
          <span class="small">{texts.types[type]}</span>
        </>
      ),
    },
    { label: texts.forms.state, cell: (form) => <StateBadge form={form} state={states.get(form.path)} /> },
    { label: texts.forms.updated, cell: ({ updateTime }) => <Time time={updateTime} /> },
    { label: texts.forms.created, cell: ({ createTime }) => <Time time={createTime} /> },
    { label: texts.forms.replies, kind: 'number', cell: ({ replyCount }) => replyCount },
  ]
  const actions: Column<ListedForm> = {
    label: texts.forms.actions,
    kind: 'actions',
    cell: (form) => (
      <Button
        class="quiet"
        aria-disabled={isRunning.value}
        aria-label={texts.forms.duplicateOf(form.name)}
        onClick={() => duplicate(form)}
      >
        {texts.forms.duplicate}
      </Button>
    ),
  }
  return (
    <>
      <ErrorNotice error={error.value} />
      <Table rows={forms} keyOf={({ path }) => path} columns={mayWrite ? [...columns, actions] : columns} />
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
