import { describe, expect, it } from 'vitest'
import { hrefOf, type Route, routeOf } from './routes.ts'

describe('a route', () => {
  it.each<[string, Route]>([
    ['#/', { page: 'home' }],
    ['#/keys', { page: 'keys' }],
    ['#/organizations/acme/deleted-forms', { page: 'deleted-forms', organization: 'acme' }],
    [
      '#/organizations/acme/forms/Ab3dE6gH9j/publish',
      { page: 'publish', organization: 'acme', form: 'Ab3dE6gH9j' },
    ],
    [
      '#/organizations/acme/forms/f/compare/live/draft',
      { page: 'compare', organization: 'acme', form: 'f', from: 'live', to: 'draft' },
    ],
    ['#/organizations/a%2Fb/forms', { page: 'forms', organization: 'a/b' }],
  ])('is read from the fragment that it writes: %s', (fragment, route) => {
    expect(routeOf(fragment)).toEqual(route)
    expect(hrefOf(route)).toBe(fragment)
  })

  it.each(['', '#'])('is the home page for %j', (fragment) => {
    expect(routeOf(fragment)).toEqual({ page: 'home' })
  })

  it.each([
    '#/nothing',
    '#/organizations',
    '#/organizations/acme/other',
    '#/organizations/acme/forms/f/other',
    '#/organizations/acme/forms/f/edit/more',
    '#/%',
  ])('is unknown for %s', (fragment) => {
    expect(routeOf(fragment)).toEqual({ page: 'not-found' })
  })
})
