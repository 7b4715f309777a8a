import { hasChangesOf } from '../../json/three-way-merge.ts'
import { isObject, type JsonObject } from '../../json/values.ts'
import { parseFields } from './fields-of-form.ts'

/** Unsaved edits of a form, as this browser keeps them. */
export interface StoredEdit {
  /** ETag of the state that the edit began with. */
  etag: string
  /** The fields of that state. */
  base: JsonObject
  /** What the JSON editor showed, which may be no JSON yet. */
  text: string
}

interface DatedEdit extends StoredEdit {
  /** Milliseconds since the epoch. */
  time: number
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
  /**
   * @returns undefined if the form has the changes already, such as of a page that closed during a save, or if the entry is
   *   damaged
   */
  const readUnsaved = (formPath: string, owner: string, form: JsonObject): DatedEdit | undefined => {
    const edit = parseEdit(storage.getItem(nameOf(formPath, owner)) ?? '')
    const fields = edit && parseFields(edit.text)
    return fields && hasChangesOf(edit.base, fields, form) ? undefined : edit
  }

  return {
    /** Whether any tab has an edit that a form does not have. @param form its fields as the service has them */
    has: (formPath: string, form: JsonObject): boolean =>
      tabsWith(formPath).some((owner) => readUnsaved(formPath, owner, form) !== undefined),

    /**
     * Takes the edit of a form that this tab has stored, or the newest one of a closed tab, out of the storage. Removes
     * those that the form has already.
     *
     * @param form its fields as the service has them
     * @param openTabs ids of the tabs whose edits stay with them
     * @returns the edit, and whether closed tabs have left further ones of the form
     */
    take: (
      formPath: string,
      form: JsonObject,
      openTabs: ReadonlySet<string>,
    ): { edit: StoredEdit; hasMore: boolean } | undefined => {
      const available = tabsWith(formPath)
        .filter((owner) => owner === tab || !openTabs.has(owner))
        .flatMap((owner) => {
          const edit = readUnsaved(formPath, owner, form)
          if (edit === undefined) storage.removeItem(nameOf(formPath, owner))
          return edit ? [{ owner, ...edit }] : []
        })
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

const parseEdit = (entry: string): DatedEdit | undefined => {
  const { etag, base, text, time } = parseFields(entry) ?? {}
  const isWhole =
    typeof etag === 'string' && isObject(base) && typeof text === 'string' && typeof time === 'number'
  return isWhole ? { etag, base, text, time } : undefined
}
