import { type FormProps, Page } from '../elements/page.tsx'
import { headOf } from '../reading/form-head.ts'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { texts } from '../texts.ts'
import { Walk } from './walk.tsx'

/** A form as a respondent would read it. Nothing is stored. */
export const PreviewPage = ({ client, organization, form }: FormProps) => {
  const { loaded, reload } = useLoaded((signal) => client.forms.get(organization, form, { signal }))
  const { value } = loaded.value
  return (
    <Page {...headOf(texts.preview, value?.form)}>
      <p class="notice">{texts.preview.nothingStored}</p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value && <Walk form={value.form} />}
    </Page>
  )
}
