import { session } from '../../session/session.ts'
import { storedEdits } from './stored-edits.ts'
import { thisTab } from './tabs.ts'

/** Each stores what was typed last in an open form. */
const flushes = new Set<() => void>()

const flushAll = () => {
  for (const flush of flushes) flush()
}

/** The unsaved edits of the signed-in user in this browser. */
export const ownEdits = () => {
  const edits = storedEdits(session.peek()!.userPath, thisTab, localStorage)
  return {
    ...edits,

    /** Number of forms with unsaved edits, of all tabs, what was typed last included. */
    count: (): number => {
      flushAll()
      return edits.count()
    },

    /** Removes the edits of all tabs. Nothing that was typed before is stored afterwards. */
    removeAll: (): void => {
      flushAll()
      edits.removeAll()
    },

    /** Calls `flush` before edits are counted or removed. @returns removes `flush` */
    onUse: (flush: () => void): (() => void) => {
      flushes.add(flush)
      return () => flushes.delete(flush)
    },
  }
}

export type OwnEdits = ReturnType<typeof ownEdits>
