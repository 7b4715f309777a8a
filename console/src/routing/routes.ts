/** The pages of the console, as the fragment of its URL names them. */
export type Route =
  | { page: 'home' }
  | { page: 'keys' }
  | { page: OrganizationPage; organization: string }
  | { page: FormPage; organization: string; form: string }
  | { page: 'compare'; organization: string; form: string; from: string; to: string }
  | { page: 'not-found' }

/** Pages of an organization, in the order of the navigation. */
export const organizationPages = ['forms', 'activity', 'deleted-forms'] as const
type OrganizationPage = (typeof organizationPages)[number]

/** Pages of a form, in the order of the navigation. */
export const formPages = ['edit', 'preview', 'publish', 'revisions', 'form-activity', 'use-it'] as const
type FormPage = (typeof formPages)[number]

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
  if (segments.length === 3 && isOneOf(organizationPages, collection))
    return { page: collection, organization }
  if (collection !== 'forms' || !form) return { page: 'not-found' }
  if (segments.length === 5 && isOneOf(formPages, page)) return { page, organization, form }
  if (segments.length === 7 && page === 'compare' && from && to)
    return { page: 'compare', organization, form, from, to }
  return { page: 'not-found' }
}

const isOneOf = <P extends string>(pages: readonly P[], page: string | undefined): page is P =>
  (pages as readonly (string | undefined)[]).includes(page)

const decoded = (path: string): string[] | undefined => {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}
