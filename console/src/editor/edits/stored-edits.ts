import { hasChangesOf } from '../../json/three-way-merge.ts'
import { isObject, type JsonObject } from '../../json/values.ts'
import { parseFields } from './fields-of-form.ts'

/** What somebody has typed. */
export interface Typed {
  fields: JsonObject
  /** What the JSON editor shows, if it is not `fields` as the console writes them: it may be no JSON yet. */
  text?: string
}

/** The unsaved edit of a form, as this browser keeps it. */
export interface StoredEdit extends Typed {
  /** ETag of the state that the edit began with. */
  etag: string
  /** The fields of that state. */
  base: JsonObject
}

/**
 * Keeps the unsaved edits of a user in `localStorage`, which outlives the tab: one for each form, the last one that any tab
 * has stored.
 *
 * @param userPath `users/{user_id}`: the next user of this browser gets none of them
 * @param storage is replaced in tests
 */
export const storedEdits = (userPath: string, storage: Storage) => {
  const prefix = `fms-console-edit:${userPath}:`
  const names = () => Object.keys(storage).filter((name) => name.startsWith(prefix))
  return {
    /**
     * @param form the fields of the form as the service has them
     * @returns undefined if the form has the changes already, such as of a page that closed during a save, or if the entry
     *   is damaged
     */
    read: (formPath: string, form: JsonObject): StoredEdit | undefined => {
      const edit = parseEdit(storage.getItem(prefix + formPath) ?? '')
      return edit?.text === undefined && edit && hasChangesOf(edit.base, edit.fields, form) ? undefined : edit
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
    count: (): number => names().length,

    removeAll: (): void => {
      for (const name of names()) storage.removeItem(name)
    },
  }
}

export type StoredEdits = ReturnType<typeof storedEdits>

const parseEdit = (entry: string): StoredEdit | undefined => {
  const { etag, base, fields, text } = parseFields(entry) ?? {}
  const isWhole = typeof etag === 'string' && isObject(base) && isObject(fields)
  return isWhole ? { etag, base, fields, ...(typeof text === 'string' && { text }) } : undefined
}
