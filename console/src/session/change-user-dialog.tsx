import { Dialog } from '../elements/dialog.tsx'
import { goTo } from '../routing/navigation.ts'
import { texts } from '../texts.ts'
import { entryError } from './entry.ts'
import { otherSession, replaceSession, revokeTemporaryKey, type Session } from './session.ts'

/** Asks whether to sign in with the login link of another user. */
export const ChangeUserDialog = ({ current, other }: { current: Session; other: Session }) => {
  const end = async (action: () => Promise<void>) => {
    otherSession.value = undefined
    try {
      await action()
    } catch (error) {
      entryError.value = error
    }
  }
  const change = () =>
    end(async () => {
      // The page may be one of an organization that the other user does not belong to.
      goTo({ page: 'home' })
      await replaceSession(other)
    })
  const stay = () => otherSession.peek() && end(() => revokeTemporaryKey(other))
  return (
    <Dialog title={texts.changeUser.title} onClose={stay}>
      <p>{texts.changeUser.explanation(current.email, other.email)}</p>
      <footer>
        <button type="button" class="primary" onClick={change}>
          {texts.changeUser.change(other.email)}
        </button>
        <button type="button" onClick={stay}>
          {texts.changeUser.stay(current.email)}
        </button>
      </footer>
    </Dialog>
  )
}
