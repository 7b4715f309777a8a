import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Button } from './button.tsx'
import { focusHeading } from './page.tsx'
import { type Title, TitleText } from './title.tsx'

/** A modal dialog. Escape and the close button call `onClose`. Afterwards the element before has the focus again, or the heading. */
export const Dialog = ({
  title,
  onClose,
  isKept = false,
  children,
}: {
  title: Title
  onClose: () => void
  /** Whether neither Escape nor a close button ends the dialog. */
  isKept?: boolean
  children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current!
    const before = document.activeElement as HTMLElement | null
    element.showModal()
    return () => {
      element.close()
      // The dialog may have left the document already: then closing it moves no focus.
      if (document.activeElement === document.body && before?.isConnected) before.focus()
      if (document.activeElement === document.body) focusHeading()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // The event is late: a dialog that has left the document must not close the one that took its place.
      onClose={() => dialog.current && onClose()}
      onCancel={(event) => isKept && event.preventDefault()}
      // Chromium closes a dialog at the second Escape, whatever becomes of the cancel event.
      onKeyDown={(event) => isKept && event.key === 'Escape' && event.preventDefault()}
    >
      <header>
        <h2 id={titleId}>
          <TitleText title={title} />
        </h2>
        {!isKept && (
          <Button class="quiet" aria-label={texts.close} onClick={() => dialog.current!.close()}>
            ×
          </Button>
        )}
      </header>
      {children}
    </dialog>
  )
}
