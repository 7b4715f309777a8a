import type { ComponentProps } from 'preact'
import { useLoaded } from '../elements/load.ts'
import { texts } from '../texts.ts'

type JsonEditor = typeof import('../json/json-editor.tsx').JsonEditor

/** The JSON editor. Its code is loaded when it opens. */
export const LazyJsonEditor = (props: ComponentProps<JsonEditor>) => {
  const { loaded, reload } = useLoaded(() => import('../json/json-editor.tsx'))
  const { value, isLoading } = loaded.value
  return (
    <section class="json" aria-label={texts.edit.json}>
      {value && <value.JsonEditor {...props} />}
      {!value && isLoading && <p>{texts.loading}</p>}
      {!value && !isLoading && <NotLoaded onRetry={reload} />}
    </section>
  )
}

const NotLoaded = ({ onRetry }: { onRetry: () => void }) => (
  <div class="notice error" role="alert">
    <p>{texts.edit.jsonNotLoaded}</p>
    <button type="button" onClick={onRetry}>
      {texts.tryAgain}
    </button>
  </div>
)
