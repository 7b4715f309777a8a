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

/** What tells an edit from the others of its form. */
type EditId = Pick<StoredEdit, 'etag' | 'text'>
type EditStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Keeps edits of a user in `localStorage`, which outlives the tab: one for each form and ETag, since two tabs may edit
 * different states of a form.
 *
 * @param userPath `users/{user_id}`: the next user of this browser gets none of them
 * @param storage and `now`, milliseconds, are replaced in tests
 */
export const storedEdits = (userPath: string, storage: EditStorage, now: () => number = Date.now) => {
  const prefix = `fms-console-edit:${userPath}:`
  const nameOf = (formPath: string, etag: string) => `${prefix}${formPath}:${etag}`
  const names = (start: string): string[] =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((name) =>
      name.startsWith(start),
    )
  const readAll = (formPath: string): (StoredEdit & { time: number })[] =>
    names(nameOf(formPath, '')).map((name) => JSON.parse(storage.getItem(name)!))

  return {
    /** The newest edit of a form. */
    read: (formPath: string): StoredEdit | undefined => {
      const [newest] = readAll(formPath).sort((a, b) => b.time - a.time)
      if (newest === undefined) return undefined
      const { time: _, ...edit } = newest
      return edit
    },

    /** @returns whether there was room. */
    write: (formPath: string, edit: StoredEdit): boolean => {
      try {
        storage.setItem(nameOf(formPath, edit.etag), JSON.stringify({ ...edit, time: now() }))
        return true
      } catch {
        return false
      }
    },

    /** Removes an edit, but not what another tab has stored in its place since. */
    remove: (formPath: string, { etag, text }: EditId): void => {
      const isOwn = readAll(formPath).some((each) => each.etag === etag && each.text === text)
      if (isOwn) storage.removeItem(nameOf(formPath, etag))
    },

    /** Number of forms with unsaved edits. */
    count: (): number => new Set(names(prefix).map((name) => name.slice(prefix.length).split(':')[0])).size,

    removeAll: (): void => {
      for (const name of names(prefix)) storage.removeItem(name)
    },
  }
}
