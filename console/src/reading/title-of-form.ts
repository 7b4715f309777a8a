import type { Client } from '@fms/client'
import type { Title } from '../elements/title.tsx'
import { useLoaded } from './load.ts'

/**
 * The title of a page that does not read the form that it is about.
 *
 * @param form undefined on pages that are about no form
 * @param titleOf the title with the name of the form
 * @param title until the name is read, and without a form
 */
export const useTitleOfForm = (
  client: Client,
  organization: string,
  form: string | undefined,
  titleOf: (name: string) => string,
  title: string,
): Title => {
  const { loaded } = useLoaded(async (signal) =>
    form === undefined ? undefined : client.forms.get(organization, form, { readMask: 'name', signal }),
  )
  const name = loaded.value.value?.form.name
  return name === undefined ? title : { name, text: titleOf }
}
