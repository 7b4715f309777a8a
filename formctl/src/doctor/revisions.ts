import { type FormRevisions, manyRevisions, maxCountedRevisions, openFormsStore } from '@fms/forms-store'
import { type Check, fail, ok, reasonOf, warn } from './check.ts'

const check = 'revisions'

/** How many forms the message names. */
const maxForms = 5

/** Looks for forms with more than 10,000 revisions. */
export const checkRevisions = async (formsUrl: string): Promise<Check> => {
  try {
    await using store = await openFormsStore(formsUrl, { readOnly: true })
    return revisionsCheck(await store.revisionGrowth.formsWithMany(maxForms + 1))
  } catch (error) {
    return fail(check, `not checked: ${reasonOf(error)}`, 'Check the forms store first.')
  }
}

/** @param forms with many revisions; one more than the message names if there are more. */
export const revisionsCheck = (forms: FormRevisions[]): Check => {
  const limit = manyRevisions.toLocaleString('en')
  if (forms.length === 0) return ok(check, `no form has more than ${limit}`)
  const names = forms.slice(0, maxForms).map(describe)
  const message = `${forms.length > maxForms ? 'many forms' : 'forms'} have more than ${limit}: ${names.join('; ')}`
  return warn(check, message, 'Delete old revisions with formctl revisions prune; begin with --dry-run.')
}

const describe = ({ organizationId, publicId, revisions }: FormRevisions): string => {
  const count = revisions.toLocaleString('en')
  return `${publicId} of organization ${organizationId} (${count}${revisions === maxCountedRevisions ? ' or more' : ''})`
}
