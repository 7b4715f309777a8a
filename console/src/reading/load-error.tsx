import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../elements/button.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { focusHeading } from '../elements/page.tsx'
import { texts } from '../texts.ts'
import type { Loaded } from './load.ts'

/** The error of a page that could not be read, with a button that reads it again. Renders nothing without an error. */
export const LoadError = ({
  loaded: { error, isLoading },
  reload,
}: {
  loaded: Pick<Loaded<unknown>, 'error' | 'isLoading'>
  reload: () => void
}) =>
  error === undefined ? null : (
    <div class="load-error">
      <ErrorNotice error={error} />
      <TryAgain isLoading={isLoading} onClick={reload} />
    </div>
  )

/** A button that reads again. Leaves the focus to the heading of the page when it disappears with the focus. */
const TryAgain = ({ isLoading, onClick }: { isLoading: boolean; onClick: () => void }) => {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const { current } = button
    return () => {
      if (document.activeElement === current) focusHeading()
    }
  }, [])
  return (
    <Button ref={button} aria-disabled={isLoading} onClick={onClick}>
      {texts.tryAgain}
    </Button>
  )
}
