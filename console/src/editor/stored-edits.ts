import type { JsonObject } from '../json/values.ts'

/** Unsaved edits of a form, as this browser keeps them. */
export interface StoredEdit {
  /** ETag of the state that the edit began with. */
  etag: string
  /** The fields of that state. */
  base: JsonObject
  /** What the JSON editor showed, which may be no JSON yet. */
  text: string
}

type EditStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Keeps edits of a user in `localStorage`, which outlives the tab: one for each form and tab, so that no tab overwrites
 * the edit of another one.
 *
 * @param userPath `users/{user_id}`: the next user of this browser gets none of them
 * @param tab the id of this tab
 * @param storage and `now`, milliseconds, are replaced in tests
 */
export const storedEdits = (
  userPath: string,
  tab: string,
  storage: EditStorage,
  now: () => number = Date.now,
) => {
  const prefix = `fms-console-edit:${userPath}:`
  const nameOf = (formPath: string, owner: string) => `${prefix}${formPath}:${owner}`
  const names = (start: string): string[] =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((name) =>
      name.startsWith(start),
    )
  const tabsWith = (formPath: string): string[] =>
    names(nameOf(formPath, '')).map((name) => name.slice(nameOf(formPath, '').length))
  const read = (formPath: string, owner: string): StoredEdit & { time: number } =>
    JSON.parse(storage.getItem(nameOf(formPath, owner))!)

  return {
    /** Whether any tab has an edit of a form. */
    has: (formPath: string): boolean => tabsWith(formPath).length > 0,

    /**
     * Takes the edit of a form that this tab has stored, or the newest one of a closed tab, out of the storage.
     *
     * @param openTabs ids of the tabs whose edits stay with them
     * @returns the edit, and whether closed tabs have left further ones of the form
     */
    take: (
      formPath: string,
      openTabs: ReadonlySet<string>,
    ): { edit: StoredEdit; hasMore: boolean } | undefined => {
      const available = tabsWith(formPath)
        .filter((owner) => owner === tab || !openTabs.has(owner))
        .map((owner) => ({ owner, ...read(formPath, owner) }))
        .sort((a, b) => Number(b.owner === tab) - Number(a.owner === tab) || b.time - a.time)
      const [first] = available
      if (first === undefined) return undefined
      const { owner, time: _, ...edit } = first
      storage.removeItem(nameOf(formPath, owner))
      return { edit, hasMore: available.length > 1 }
    },

    /** Stores the edit of this tab. @returns whether there was room. */
    write: (formPath: string, edit: StoredEdit): boolean => {
      try {
        storage.setItem(nameOf(formPath, tab), JSON.stringify({ ...edit, time: now() }))
        return true
      } catch {
        return false
      }
    },

    /** Removes the edit of this tab. */
    remove: (formPath: string): void => storage.removeItem(nameOf(formPath, tab)),

    /** Number of forms with unsaved edits, of all tabs. */
    count: (): number => new Set(names(prefix).map((name) => name.slice(prefix.length).split(':')[0])).size,

    /** Removes the edits of all tabs. */
    removeAll: (): void => {
      for (const name of names(prefix)) storage.removeItem(name)
    },
  }
}
