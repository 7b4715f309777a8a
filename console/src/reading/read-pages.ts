import type { List } from '@fms/client'

export interface FirstPages<T> {
  items: T[]
  hasNext: boolean
}

/** Reads the first pages of a list. @param count 1 or more */
export const readPages = async <T>(list: List<T>, count: number): Promise<FirstPages<T>> => {
  const items: T[] = []
  let number = 0
  for await (const page of list.pages()) {
    items.push(...page.items)
    number++
    if (number >= count) return { items, hasNext: page.nextPageToken !== '' }
  }
  return { items, hasNext: false }
}
