import { useEffect, useMemo } from 'preact/hooks'
import { type FormProps, Page } from '../elements/page.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { session } from '../session/session.ts'
import { texts } from '../texts.ts'
import { Editor } from './editor.tsx'
import { FormEdit } from './edits/form-edit.ts'
import { OtherTabs } from './edits/other-tabs.ts'
import { ownEdits } from './edits/own-edits.ts'

export const EditPage = ({ client, organization, form, mayWrite }: FormProps & { mayWrite: boolean }) => {
  const { loaded, reload } = useLoaded((signal) => client.forms.get(organization, form, { signal }))
  const { value, error } = loaded.value
  const edit = useMemo(() => {
    if (value === undefined) return undefined
    const otherTabs = new OtherTabs(session.peek()!.userPath, value.form.path)
    return new FormEdit(client, ownEdits(), otherTabs, value, mayWrite)
  }, [client, value, mayWrite])
  useEffect(
    () => () => {
      // Signing out has deleted what was typed.
      if (session.peek()) edit?.keep()
      edit?.dispose()
    },
    [edit],
  )
  if (edit !== undefined) return <Editor edit={edit} organization={organization} mayWrite={mayWrite} />
  return (
    <Page title={texts.edit.title}>
      <LoadError loaded={loaded.value} reload={reload} />
      {error === undefined && <p>{texts.loading}</p>}
    </Page>
  )
}
