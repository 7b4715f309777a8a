import { render } from 'preact'
import { asObject, asText, type JsonObject } from '../json/values.ts'
import { PublicFormPage, UnavailablePage } from './public-form-page.tsx'
import { texts } from './texts.ts'
import '../style.css'

/** Reads the form of this page. The path of the page ends with its public id. */
const readForm = async (): Promise<{ form: JsonObject } | { message: string }> => {
  try {
    const response = await fetch(`${location.pathname.split('/').at(-1)}.json`)
    const body = asObject(await response.json())
    return response.ok ? { form: body } : { message: asText(asObject(body.error).message) }
  } catch {
    return { message: texts.noConnection }
  }
}

const read = await readForm()
document.title = 'form' in read ? asText(read.form.name) : texts.unavailable
render(
  'form' in read ? <PublicFormPage form={read.form} /> : <UnavailablePage message={read.message} />,
  document.querySelector('#app')!,
)
