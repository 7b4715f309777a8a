import { asText } from '../json/values.ts'
import type { PreviewedForm } from './as-form.ts'
import { FormImage } from './form-image.tsx'
import { translationInto } from './shown-step.ts'

/** What respondents see above every step: the logo, name and description of the form. */
export const FormHead = ({
  form: { branding, i18n, name, description },
  locale,
  isPage,
}: {
  form: PreviewedForm
  locale: string
  isPage: boolean
}) => {
  const translated = translationInto(i18n, locale)
  const Name = isPage ? 'h1' : 'p'
  const about = asText(translated?.description?.value) || description
  return (
    <header lang={locale} dir="auto">
      {branding.enabled === true && <FormImage url={asText(branding.logoUrl)} name="logo" />}
      <Name class="form-name">{asText(translated?.name?.value) || name}</Name>
      {about && <p>{about}</p>}
    </header>
  )
}
