import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { texts } from '../texts.ts'
import { signInByLink } from './entry.ts'
import { type OfferedLink, offeredLink, type Session } from './session.ts'

/** Asks whether to sign in with a login link. @param current the session of another user, if there is one */
export const LoginLinkDialog = ({ link, current }: { link: OfferedLink; current: Session | undefined }) => {
  const { email } = link
  const decline = () => {
    offeredLink.value = undefined
  }
  return (
    <Dialog
      title={current ? texts.loginLink.change : { text: texts.loginLink.title, name: email }}
      onClose={decline}
    >
      <p>{current ? texts.loginLink.explainChange(current.email, email) : texts.loginLink.explanation}</p>
      <footer>
        <Button class="primary" onClick={() => signInByLink(link)}>
          {texts.loginLink.signIn(email)}
        </Button>
        <Button onClick={decline}>{current ? texts.loginLink.stay(current.email) : texts.cancel}</Button>
      </footer>
    </Dialog>
  )
}
