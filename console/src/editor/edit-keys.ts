import { useEffect } from 'preact/hooks'

/** Inputs that are no part of the edit, or that a form of their own sends: there the browser undoes. */
const others = 'dialog, .stage, form input'

/** Ctrl-Z (Cmd-Z) undoes, Ctrl-Shift-Z and Ctrl-Y redo, and Ctrl-S saves: wherever the focus is, the JSON editor included. */
export const useEditKeys = (
  isActive: boolean,
  keys: { undo: () => void; redo: () => void; save: () => void },
) => {
  useEffect(() => {
    if (!isActive) return
    const press = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, altKey, shiftKey, key, code, target } = event
      if (!(ctrlKey || metaKey) || altKey) return
      // Other alphabets have no S, Y or Z: there the place of the key counts.
      const letter = (/^[\x20-\x7e]$/.test(key) ? key : code.replace('Key', '')).toLowerCase()
      const action =
        letter === 's'
          ? keys.save
          : letter === 'y' || (letter === 'z' && shiftKey)
            ? keys.redo
            : letter === 'z' && keys.undo
      if (!action || (letter !== 's' && (target as Element).closest?.(others))) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [isActive, keys])
}
