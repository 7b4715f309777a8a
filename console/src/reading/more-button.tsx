import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../elements/button.tsx'
import { focusHeading } from '../elements/page.tsx'
import type { FirstPages } from './read-pages.ts'

/**
 * Adds the next page to the table of a list; renders nothing after the last one. The focus moves to the first row that
 * was added, since the button may be gone.
 */
export const MoreButton = ({
  label,
  list,
  isLoading,
  onMore,
}: {
  label: string
  list: FirstPages<unknown> | undefined
  isLoading: boolean
  onMore: () => void
}) => {
  /** The number of rows when the button was pressed. Undefined once the next page is there. */
  const rowsBefore = useRef<number | undefined>(undefined)
  // Not useEffect: that of the previous page may be late, and take the press for its own.
  useLayoutEffect(() => {
    if (rowsBefore.current !== undefined) focusRow(rowsBefore.current)
    rowsBefore.current = undefined
  }, [list])
  const readMore = () => {
    rowsBefore.current = tableRows().length
    onMore()
  }
  return list?.hasNext ? (
    <Button aria-disabled={isLoading} onClick={readMore}>
      {label}
    </Button>
  ) : null
}

const tableRows = () => document.querySelectorAll<HTMLElement>('#content tbody tr')

const focusRow = (index: number): void => {
  const row = tableRows()[index]
  if (row === undefined) {
    focusHeading()
  } else {
    row.tabIndex = -1
    row.focus()
  }
}
