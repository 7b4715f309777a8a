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

const prefix = 'fms-console-edit:'

/** Keeps edits in `localStorage`, which outlives the tab. @param storage replaced in tests */
export const storedEdits = (
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>,
) => ({
  read: (formPath: string): StoredEdit | undefined => {
    const stored = storage.getItem(prefix + formPath)
    return stored === null ? undefined : JSON.parse(stored)
  },

  /** @returns whether there was room. */
  write: (formPath: string, edit: StoredEdit): boolean => {
    try {
      storage.setItem(prefix + formPath, JSON.stringify(edit))
      return true
    } catch {
      return false
    }
  },

  remove: (formPath: string): void => storage.removeItem(prefix + formPath),

  /** Number of forms with unsaved edits. */
  count: (): number => names(storage).length,

  removeAll: (): void => {
    for (const name of names(storage)) storage.removeItem(name)
  },
})

const names = (storage: Pick<Storage, 'key' | 'length'>): string[] =>
  Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter((name) =>
    name.startsWith(prefix),
  )
