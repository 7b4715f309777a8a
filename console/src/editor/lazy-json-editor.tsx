import type { ComponentProps } from 'preact'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { texts } from '../texts.ts'

type JsonEditor = typeof import('../json/json-editor.tsx').JsonEditor

/** The JSON editor. Its code is loaded when it opens. */
export const LazyJsonEditor = (props: ComponentProps<JsonEditor>) => {
  const { loaded, reload } = useLoaded(() =>
    import('../json/json-editor.tsx').catch((cause) => {
      throw new Error(texts.edit.jsonNotLoaded, { cause })
    }),
  )
  const { value, error } = loaded.value
  return (
    <section class="json" aria-label={texts.edit.json}>
      {value && <value.JsonEditor {...props} />}
      {!value && error === undefined && <p>{texts.loading}</p>}
      <LoadError loaded={loaded.value} reload={reload} />
    </section>
  )
}
