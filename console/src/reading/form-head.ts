import type { Client, Form } from '@fms/client'
import { useLoaded } from './load.ts'

/** The title of a page about a form: with its name once it is read. */
interface HeadTexts {
  title: string
  titleOf: (name: string) => string
}

/** The title of a page, and the form that it is about for its public link. */
export const headOf = ({ title, titleOf }: HeadTexts, form: Partial<Form> | undefined) =>
  form === undefined ? { title } : { title: { name: form.name ?? '', text: titleOf }, form }

/** As {@link headOf}, for a page that does not read the form itself. @param form undefined on pages that are about none */
export const useFormHead = (
  client: Client,
  organization: string,
  form: string | undefined,
  texts: HeadTexts,
) => {
  const { loaded } = useLoaded(async (signal) => {
    if (form === undefined) return undefined
    return client.forms.get(organization, form, { readMask: 'name,live,publicUrl', signal })
  })
  return headOf(texts, loaded.value.value?.form as Partial<Form> | undefined)
}
