import { session } from '../session/session.ts'
import { storedEdits } from './stored-edits.ts'
import { thisTab } from './tabs.ts'

/** The unsaved edits of the signed-in user in this browser. */
export const ownEdits = () => storedEdits(session.peek()!.userPath, thisTab, localStorage)
