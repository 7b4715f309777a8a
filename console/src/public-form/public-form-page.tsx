import type { JsonObject } from '../json/values.ts'
import { asForm } from '../preview/as-form.ts'
import { Walk } from '../preview/walk.tsx'
import { texts } from './texts.ts'

/** How to show a form elsewhere. Relative, for proxies that add a prefix. */
const guide = '../v2/docs/guides/show-a-form.md'

/** A live form, step by step as respondents will meet it. Nothing is stored. */
export const PublicFormPage = ({ form }: { form: JsonObject }) => (
  <main class="public-form">
    <Walk form={asForm(form)} ending={texts.ending} isPage />
    <footer class="small">
      <span>{texts.notCollected}</span>
      <a href={guide}>{texts.guide}</a>
    </footer>
  </main>
)

/** Why there is no form to show. */
export const UnavailablePage = ({ message }: { message: string }) => (
  <main class="public-form">
    <h1>{texts.unavailable}</h1>
    <p role="alert">{message}</p>
  </main>
)
