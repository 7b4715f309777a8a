import { describe, expect, it } from 'vitest'
import { filterOf, matches } from './form-filter.ts'

describe('the filter of a list of forms', () => {
  it.each([
    [{ search: '', type: 'any' }, ''],
    [{ search: '  tea ', type: 'any' }, 'search("tea")'],
    [{ search: '', type: 'dynamic' }, 'type = dynamic'],
    [{ search: 'a "b" \\', type: 'structured' }, 'search("a \\"b\\" \\\\") AND type = structured'],
  ] as const)('of %j is %s', (query, filter) => {
    expect(filterOf(query)).toBe(filter)
  })

  it('leaves out live forms, or all others', () => {
    const forms = [{ live: true }, { live: false }]

    expect(forms.map((form) => matches({ live: 'any' }, form))).toEqual([true, true])
    expect(forms.map((form) => matches({ live: 'live' }, form))).toEqual([true, false])
    expect(forms.map((form) => matches({ live: 'not-live' }, form))).toEqual([false, true])
  })
})
