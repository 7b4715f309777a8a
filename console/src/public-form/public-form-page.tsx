import { asObject, asText, type JsonObject } from '../json/values.ts'
import { asForm } from '../preview/as-form.ts'
import { FormImage } from '../preview/form-image.tsx'
import { Walk } from '../preview/walk.tsx'
import { texts } from './texts.ts'

/** How to show a form elsewhere. Relative, for proxies that add a prefix. */
const guide = '../v2/docs/guides/show-a-form.md'

/** A live form, step by step as respondents will meet it. Nothing is stored. */
export const PublicFormPage = ({ form }: { form: JsonObject }) => {
  const shown = asForm(form)
  const description = asText(form.description)
  const branding = asObject(form.branding)
  return (
    <main class="public-form">
      <header lang={shown.i18n.sourceLocale} dir="auto">
        {branding.enabled === true && <FormImage url={asText(branding.logoUrl)} name="logo" />}
        <h1>{asText(form.name)}</h1>
        {description && <p>{description}</p>}
      </header>
      <Walk form={shown} ending={texts.ending} showsImages />
      <footer class="small">
        <span>{texts.notCollected}</span>
        <a href={guide}>{texts.guide}</a>
      </footer>
    </main>
  )
}

/** Why there is no form to show. */
export const UnavailablePage = ({ message }: { message: string }) => (
  <main class="public-form">
    <h1>{texts.unavailable}</h1>
    <p role="alert">{message}</p>
  </main>
)
