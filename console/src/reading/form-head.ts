import type { Client, Form } from '@fms/client'
import type { Title } from '../elements/title.tsx'
import { useLoaded } from './load.ts'

/**
 * The title of a page that does not read the form that it is about, and the form for its public link.
 *
 * @param form undefined on pages that are about no form
 * @param titleOf the title with the name of the form
 * @param title until the form is read, and without one
 */
export const useFormHead = (
  client: Client,
  organization: string,
  form: string | undefined,
  titleOf: (name: string) => string,
  title: string,
): { title: Title; form?: Partial<Form> } => {
  const { loaded } = useLoaded(async (signal) => {
    if (form === undefined) return undefined
    return client.forms.get(organization, form, { readMask: 'name,live,publicUrl', signal })
  })
  const { value } = loaded.value
  if (value === undefined) return { title }
  return { title: { name: value.form.name ?? '', text: titleOf }, form: value.form as Partial<Form> }
}
