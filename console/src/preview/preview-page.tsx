import type { Client } from '@fms/client'
import { Page } from '../elements/page.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { texts } from '../texts.ts'
import { Walk } from './walk.tsx'

/** A form as a respondent would read it. Nothing is stored. */
export const PreviewPage = ({
  client,
  organization,
  form,
}: {
  client: Client
  organization: string
  form: string
}) => {
  const { loaded, reload } = useLoaded((signal) => client.forms.get(organization, form, { signal }))
  const { value } = loaded.value
  return (
    <Page
      title={value ? { text: texts.preview.titleOf, name: value.form.name } : texts.preview.title}
      form={value?.form}
    >
      <p class="notice">{texts.preview.nothingStored}</p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value && <Walk form={value.form} />}
    </Page>
  )
}
