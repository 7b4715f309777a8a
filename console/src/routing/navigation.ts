import { signal } from '@preact/signals'
import { hrefOf, type Route, routeOf } from './routes.ts'

/** The page that the fragment of the URL names. */
export const route = signal<Route>(routeOf(location.hash))

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash)
})

/** Goes to a page. */
export const goTo = (to: Route): void => {
  location.hash = hrefOf(to)
}
