import type { DeletedForm } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { type OrganizationProps, Page, useHeadingFocus } from '../elements/page.tsx'
import { type Column, Table } from '../elements/table.tsx'
import { Time } from '../elements/time.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { MoreButton } from '../reading/more-button.tsx'
import { readPages } from '../reading/read-pages.ts'
import { userName } from '../session/user-name.ts'
import { texts } from '../texts.ts'

const pageSize = 1_000

const columns: Column<DeletedForm>[] = [
  { label: texts.fields.name, kind: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { label: texts.deletedForms.deleted, cell: ({ deleteTime }) => <Time time={deleteTime} /> },
  { label: texts.deletedForms.deleter, cell: ({ deleter }) => userName(deleter) },
  { label: texts.deletedForms.purge, cell: ({ purgeTime }) => <Time time={purgeTime} /> },
]

/** Deleted forms: bring one back, or remove it for good. */
export const DeletedFormsPage = ({
  client,
  organization,
  mayWrite,
  mayPurge,
}: OrganizationProps & { mayWrite: boolean; mayPurge: boolean }) => {
  const pages = useSignal(1)
  const done = useSignal('')
  const removed = useSignal<DeletedForm | undefined>(undefined)
  const { error, isRunning, run } = useAction()
  const { loaded, reload } = useLoaded((signal) =>
    readPages(client.deletedForms.list(organization, { pageSize, signal }), pages.value),
  )
  const { value, isLoading } = loaded.value

  const focusHeadingLater = useHeadingFocus(value)

  const bringBack = ({ path, name }: DeletedForm) =>
    run(async () => {
      await client.deletedForms.undelete(organization, path)
      done.value = texts.deletedForms.broughtBack(name)
      focusHeadingLater()
      reload()
    })
  const remove = async () => {
    await client.deletedForms.purge(organization, removed.value!.path)
    focusHeadingLater()
    reload()
  }
  const actions: Column<DeletedForm> = {
    label: texts.forms.actions,
    kind: 'actions',
    cell: (form) => (
      <>
        <Button
          class="quiet"
          aria-disabled={isRunning.value}
          aria-label={texts.deletedForms.bringBackForm(form.name)}
          onClick={() => bringBack(form)}
        >
          {texts.deletedForms.bringBack}
        </Button>
        {mayPurge && (
          <Button
            class="quiet"
            aria-label={texts.deletedForms.removeForm(form.name)}
            onClick={() => {
              removed.value = form
            }}
          >
            {texts.deletedForms.remove}
          </Button>
        )}
      </>
    ),
  }
  return (
    <Page title={texts.deletedForms.title}>
      <LoadError loaded={loaded.value} reload={reload} />
      <ErrorNotice error={error.value} />
      <p role="status" class="done">
        {done.value}
      </p>
      {value?.items.length === 0 && <p>{texts.deletedForms.none}</p>}
      {value && value.items.length > 0 && (
        <Table
          rows={value.items}
          keyOf={({ path }) => path}
          columns={mayWrite ? [...columns, actions] : columns}
        />
      )}
      <MoreButton
        label={texts.deletedForms.more}
        list={value}
        isLoading={isLoading}
        onMore={() => {
          pages.value++
        }}
      />
      {removed.value && (
        <ConfirmDialog
          title={{ text: texts.deletedForms.removeForm, name: removed.value.name }}
          confirm={texts.deletedForms.remove}
          onConfirm={remove}
          onClose={() => {
            removed.value = undefined
          }}
        >
          <p>{texts.deletedForms.removeExplanation}</p>
        </ConfirmDialog>
      )}
    </Page>
  )
}
