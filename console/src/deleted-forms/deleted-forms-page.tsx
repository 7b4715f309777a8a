import type { Client, DeletedForm } from '@fms/client'
import { useSignal } from '@preact/signals'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { useAction, useLoaded } from '../elements/load.ts'
import { Page, useHeadingFocus } from '../elements/page.tsx'
import { readPages } from '../elements/read-pages.ts'
import { Time } from '../elements/time.tsx'
import { userName } from '../session/user-name.ts'
import { texts } from '../texts.ts'

const pageSize = 1_000

/** Deleted forms: bring one back, or remove it for good. */
export const DeletedFormsPage = ({
  client,
  organization,
  mayWrite,
  mayPurge,
}: {
  client: Client
  organization: string
  mayWrite: boolean
  mayPurge: boolean
}) => {
  const pages = useSignal(1)
  const done = useSignal('')
  const removed = useSignal<DeletedForm | undefined>(undefined)
  const { error, isRunning, run } = useAction()
  const { loaded, reload } = useLoaded((signal) =>
    readPages(client.deletedForms.list(organization, { pageSize, signal }), pages.value),
  )
  const { value, error: loadError, isLoading } = loaded.value

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
  return (
    <Page title={texts.deletedForms.title}>
      <ErrorNotice error={loadError ?? error.value} />
      <p role="status" class="done">
        {done.value}
      </p>
      {value?.items.length === 0 && <p>{texts.deletedForms.none}</p>}
      {value && value.items.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">{texts.fields.name}</th>
              <th scope="col">{texts.deletedForms.deleted}</th>
              <th scope="col">{texts.deletedForms.deleter}</th>
              <th scope="col">{texts.deletedForms.purge}</th>
              {mayWrite && (
                <th scope="col">
                  <span class="hidden">{texts.forms.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {value.items.map((form) => (
              <tr key={form.path}>
                <th scope="row">
                  <bdi>{form.name}</bdi>
                </th>
                <td data-label={texts.deletedForms.deleted}>
                  <Time time={form.deleteTime} />
                </td>
                <td data-label={texts.deletedForms.deleter}>{userName(form.deleter)}</td>
                <td data-label={texts.deletedForms.purge}>
                  <Time time={form.purgeTime} />
                </td>
                {mayWrite && (
                  <td>
                    <button
                      type="button"
                      class="quiet"
                      aria-disabled={isRunning.value}
                      aria-label={texts.deletedForms.bringBackForm(form.name)}
                      onClick={() => bringBack(form)}
                    >
                      {texts.deletedForms.bringBack}
                    </button>
                    {mayPurge && (
                      <button
                        type="button"
                        class="quiet"
                        aria-label={texts.deletedForms.removeForm(form.name)}
                        onClick={() => {
                          removed.value = form
                        }}
                      >
                        {texts.deletedForms.remove}
                      </button>
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {value?.hasNext && (
        <button type="button" aria-disabled={isLoading} onClick={() => !isLoading && pages.value++}>
          {texts.deletedForms.more}
        </button>
      )}
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
