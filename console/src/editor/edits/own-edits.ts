import { session } from '../../session/session.ts'
import { type StoredEdits, storedEdits } from './stored-edits.ts'

/** The unsaved edits of the signed-in user in this browser. */
export const ownEdits = (): StoredEdits => storedEdits(session.peek()!.userPath, localStorage)
