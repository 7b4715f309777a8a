import { session } from '../session/session.ts'
import { storedEdits } from './stored-edits.ts'

/** The unsaved edits of the signed-in user in this browser. */
export const ownEdits = () => storedEdits(session.peek()!.userPath, localStorage)
