import { CopyButton } from '../elements/copy-button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { Field } from '../elements/field.tsx'
import { texts } from '../texts.ts'

/** The secret of a new key, which is shown this once: only the button Done closes it. */
export const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Dialog title={texts.keys.secretTitle} onClose={onClose} isKept>
    <p>{texts.keys.secretExplanation}</p>
    <Field label={texts.keys.secret}>
      {(attributes) => <input {...attributes} type="text" class="secret" readOnly value={secret} />}
    </Field>
    <footer>
      <CopyButton text={secret} />
      <button type="button" onClick={onClose}>
        {texts.keys.done}
      </button>
    </footer>
  </Dialog>
)
