import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Button } from './button.tsx'

/** Copies a text to the clipboard. @param label for assistive technology, where several buttons are alike */
export const CopyButton = ({ text, label }: { text: string; label?: string }) => {
  const outcome = useSignal<'copied' | 'notCopied' | undefined>(undefined)
  const button = useRef<HTMLButtonElement>(null)
  const copy = async () => {
    outcome.value = (await copyText(text, button.current!)) ? 'copied' : 'notCopied'
  }
  return (
    <>
      <Button ref={button} aria-label={label} onClick={copy}>
        {outcome.value === 'copied' ? texts.copied : texts.copy}
      </Button>
      <span role="status" class={outcome.value === 'notCopied' ? 'small' : 'hidden'}>
        {outcome.value && texts[outcome.value]}
      </span>
    </>
  )
}

/** Whether the browser has copied the text. @param button the focus returns to it */
const copyText = async (text: string, button: HTMLElement): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Over plain HTTP, only localhost has a clipboard.
    return copySelection(text, button)
  }
}

/** Copies by a selection in a hidden field. It is beside the button: a modal dialog disables fields outside of it. */
const copySelection = (text: string, button: HTMLElement): boolean => {
  const field = document.createElement('textarea')
  field.className = 'hidden'
  field.value = text
  button.after(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  button.focus()
  return isCopied
}
