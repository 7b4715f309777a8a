import { signal } from '@preact/signals'
import { hrefOf, type Route, routeOf } from './routes.ts'

/** The page that the fragment of the URL names. */
export const route = signal<Route>(routeOf(location.hash))

const codePattern = /^#code=(.+)$/

/** Whether the URL is a login link. */
export const hasLoginCode = (): boolean => codePattern.test(location.hash)

/** Takes the code of a login link out of the URL, and so out of the history. */
export const takeLoginCode = (): string | undefined => {
  const code = codePattern.exec(location.hash)?.[1]
  if (code === undefined) return undefined
  history.replaceState(null, '', location.pathname)
  route.value = { page: 'home' }
  return code
}

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash)
})

export const goTo = (to: Route): void => {
  location.hash = hrefOf(to)
}
