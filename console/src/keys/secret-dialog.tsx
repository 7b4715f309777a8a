import { signal } from '@preact/signals'
import { Button } from '../elements/button.tsx'
import { CopyButton } from '../elements/copy-button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { Field } from '../elements/field.tsx'
import { texts } from '../texts.ts'

/** The secret of a key that was just created. Undefined once somebody has read it. */
export const issuedSecret = signal<string | undefined>(undefined)

/**
 * `issuedSecret`, which is shown this once: only the button Done closes the dialog. It belongs to no page, since Back would
 * remove it together with the page.
 */
export const SecretDialog = () => {
  const secret = issuedSecret.value
  if (secret === undefined) return null
  const close = () => {
    issuedSecret.value = undefined
  }
  return (
    <Dialog title={texts.keys.secretTitle} onClose={close} isKept>
      <p>{texts.keys.secretExplanation}</p>
      <Field label={texts.keys.secret}>
        {(attributes) => <input {...attributes} type="text" class="secret" readOnly value={secret} />}
      </Field>
      <footer>
        <CopyButton text={secret} />
        <Button onClick={close}>{texts.keys.done}</Button>
      </footer>
    </Dialog>
  )
}
