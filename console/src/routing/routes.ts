/** The pages of the console, as the fragment of its URL names them. */
export type Route =
  | { page: 'home' }
  | { page: 'keys' }
  | { page: OrganizationPage; organization: string }
  | { page: FormPage; organization: string; form: string }
  | { page: 'compare'; organization: string; form: string; from: string; to: string }
  | { page: 'not-found' }

/** Pages of an organization. */
export type OrganizationPage = 'forms' | 'activity' | 'deleted-forms'
const organizationPages: readonly string[] = [
  'forms',
  'activity',
  'deleted-forms',
] satisfies OrganizationPage[]

/** Pages of a form. */
export type FormPage = 'edit' | 'preview' | 'publish' | 'revisions' | 'form-activity' | 'use-it'
const formPages: readonly string[] = [
  'edit',
  'preview',
  'publish',
  'revisions',
  'form-activity',
  'use-it',
] satisfies FormPage[]

/** The fragment of a route, with `#`. */
export const hrefOf = (route: Route): string => `#/${segmentsOf(route).map(encodeURIComponent).join('/')}`

const segmentsOf = (route: Route): string[] => {
  if (route.page === 'home' || route.page === 'not-found') return []
  if (route.page === 'keys') return ['keys']
  const organization = ['organizations', route.organization]
  if (!('form' in route)) return [...organization, route.page]
  const form = [...organization, 'forms', route.form]
  return route.page === 'compare' ? [...form, 'compare', route.from, route.to] : [...form, route.page]
}

/** The route of a fragment. */
export const routeOf = (fragment: string): Route => {
  const segments = decoded(fragment.replace(/^#?\/?/, ''))
  const [first, organization, collection, form, page, from, to] = segments ?? []
  if (segments === undefined) return { page: 'not-found' }
  if (first === '' && segments.length === 1) return { page: 'home' }
  if (first === 'keys' && segments.length === 1) return { page: 'keys' }
  if (first !== 'organizations' || !organization) return { page: 'not-found' }
  if (segments.length === 3 && organizationPages.includes(collection!))
    return { page: collection as OrganizationPage, organization }
  if (collection !== 'forms' || !form) return { page: 'not-found' }
  if (segments.length === 5 && formPages.includes(page!))
    return { page: page as FormPage, organization, form }
  if (segments.length === 7 && page === 'compare' && from && to)
    return { page: 'compare', organization, form, from, to }
  return { page: 'not-found' }
}

const decoded = (path: string): string[] | undefined => {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}
