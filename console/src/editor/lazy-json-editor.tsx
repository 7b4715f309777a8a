import { useSignal } from '@preact/signals'
import type { ComponentProps } from 'preact'
import { useEffect } from 'preact/hooks'
import { texts } from '../texts.ts'

type JsonEditor = typeof import('../json/json-editor.tsx').JsonEditor

/** The JSON editor. Its code is loaded when it opens. */
export const LazyJsonEditor = (props: ComponentProps<JsonEditor>) => {
  const Editor = useSignal<{ JsonEditor?: JsonEditor }>({})
  useEffect(() => {
    import('../json/json-editor.tsx').then(({ JsonEditor }) => {
      Editor.value = { JsonEditor }
    })
  }, [])
  const { JsonEditor } = Editor.value
  return (
    <section class="json" aria-label={texts.edit.json}>
      {JsonEditor ? <JsonEditor {...props} /> : <p>{texts.loading}</p>}
    </section>
  )
}
