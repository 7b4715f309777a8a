import type { ComponentProps } from 'preact'
import { useLoaded } from '../reading/load.ts'
import { TryAgain } from '../reading/load-error.tsx'
import { texts } from '../texts.ts'

type JsonEditor = typeof import('../json/json-editor.tsx').JsonEditor

/** The JSON editor. Its code is loaded when it opens. */
export const LazyJsonEditor = (props: ComponentProps<JsonEditor>) => {
  const { loaded, reload } = useLoaded(() => import('../json/json-editor.tsx'))
  const { value, error, isLoading } = loaded.value
  return (
    <section class="json" aria-label={texts.edit.json}>
      {value && <value.JsonEditor {...props} />}
      {!value && error === undefined && <p>{texts.loading}</p>}
      {!value && error !== undefined && <NotLoaded isLoading={isLoading} onRetry={reload} />}
    </section>
  )
}

const NotLoaded = ({ isLoading, onRetry }: { isLoading: boolean; onRetry: () => void }) => (
  <div class="notice error" role="alert">
    <p>{texts.edit.jsonNotLoaded}</p>
    <TryAgain isLoading={isLoading} onClick={onRetry} />
  </div>
)
