import { useEffect } from 'preact/hooks'
import { useAction } from '../elements/action.ts'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { Page } from '../elements/page.tsx'
import { texts } from '../texts.ts'

/** Continues the session of the tab once the service responds again. */
export const RetryPage = ({ error, retry }: { error: unknown; retry: () => Promise<void> }) => {
  const { isRunning, run } = useAction()
  useEffect(() => {
    const runAgain = () => run(retry)
    addEventListener('online', runAgain)
    return () => removeEventListener('online', runAgain)
  }, [])
  return (
    <Page title={texts.retry.title}>
      <ErrorNotice error={error} />
      <p>{texts.retry.explanation}</p>
      <button type="button" class="primary" aria-disabled={isRunning.value} onClick={() => run(retry)}>
        {texts.tryAgain}
      </button>
    </Page>
  )
}
