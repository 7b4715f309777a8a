import { asObject, asText, type JsonObject } from '../json/values.ts'
import { asForm } from '../preview/as-form.ts'
import { Walk } from '../preview/walk.tsx'
import { texts } from './texts.ts'

/** A live form, step by step as respondents will meet it. Nothing is stored. */
export const PublicFormPage = ({ form }: { form: JsonObject }) => {
  const shown = asForm(form)
  const description = asText(form.description)
  return (
    <main class="public-form">
      <header lang={shown.i18n.sourceLocale} dir="auto">
        <Logo branding={asObject(form.branding)} />
        <h1>{asText(form.name)}</h1>
        {description && <p>{description}</p>}
      </header>
      <Walk form={shown} />
      <p class="small">{texts.notCollected}</p>
    </main>
  )
}

/** The logo of the form's makers. It disappears where the operator does not allow its origin. */
const Logo = ({ branding }: { branding: JsonObject }) => {
  const url = asText(branding.logoUrl)
  if (branding.enabled !== true || url === '') return null
  return (
    <img
      class="logo"
      src={url}
      alt=""
      onError={({ currentTarget }) => {
        currentTarget.hidden = true
      }}
    />
  )
}

/** Why there is no form to show. */
export const UnavailablePage = ({ message }: { message: string }) => (
  <main class="public-form">
    <h1>{texts.unavailable}</h1>
    <p role="alert">{message}</p>
  </main>
)
