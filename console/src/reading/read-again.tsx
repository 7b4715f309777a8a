import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { texts } from '../texts.ts'

/** The button for what to do after somebody else has changed the form: it reads the new state, and shows its error. */
export const ReadAgain = ({ read }: { read: () => Promise<void> }) => {
  const { error, isRunning, run } = useAction()
  return (
    <>
      <ErrorNotice error={error.value} />
      <Button aria-disabled={isRunning.value} onClick={() => run(read)}>
        {texts.readAgain}
      </Button>
    </>
  )
}
