import { useSignal } from '@preact/signals'
import { texts } from '../texts.ts'

/** Copies a text to the clipboard. @param label for assistive technology, where several buttons are alike */
export const CopyButton = ({ text, label }: { text: string; label?: string }) => {
  const isCopied = useSignal(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    isCopied.value = true
  }
  return (
    <>
      <button type="button" aria-label={label} onClick={copy}>
        {isCopied.value ? texts.copied : texts.copy}
      </button>
      <span role="status" class="hidden">
        {isCopied.value ? texts.copied : ''}
      </span>
    </>
  )
}
