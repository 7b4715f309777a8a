import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { focusHeading } from './page.tsx'
import { type Title, TitleText } from './title.tsx'

/** A modal dialog. Escape and the close button call `onClose`. Afterwards the element before has the focus again. */
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
    element.showModal()
    return () => {
      element.close()
      if (document.activeElement === document.body) focusHeading()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={onClose}
      onCancel={(event) => isKept && event.preventDefault()}
      // Chromium closes a dialog at the second Escape, whatever becomes of the cancel event.
      onKeyDown={(event) => isKept && event.key === 'Escape' && event.preventDefault()}
    >
      <header>
        <h2 id={titleId}>
          <TitleText title={title} />
        </h2>
        {!isKept && (
          <button
            type="button"
            class="quiet"
            aria-label={texts.close}
            onClick={() => dialog.current!.close()}
          >
            ×
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}
