import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { Page } from '../elements/page.tsx'
import { texts } from '../texts.ts'
import { entryError } from './entry.ts'
import { useRetry } from './retry.ts'

/** Continues the session of the tab once the service responds again. */
export const RetryPage = ({ retry }: { retry: () => Promise<void> }) => {
  const { isRunning, run } = useAction()
  const runAgain = () => run(retry)
  useRetry(() => (isRunning.value ? undefined : entryError.value), runAgain)
  return (
    <Page title={texts.retry.title}>
      <ErrorNotice error={entryError.value} />
      <p>{texts.retry.explanation}</p>
      <Button class="primary" aria-disabled={isRunning.value} onClick={runAgain}>
        {texts.tryAgain}
      </Button>
    </Page>
  )
}
