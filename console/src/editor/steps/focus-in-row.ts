import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A button or field in the row of a step. */
interface RowPart {
  index: number
  part: 'up' | 'down' | 'name' | 'title'
}

/**
 * Moves the focus after the rows are drawn anew, since rows stay in place while steps move: to a part of the row, to its
 * other arrow if the step has arrived at an end, to the last row if there is no such row, or to the heading.
 */
export const useFocusInRow = (list: RefObject<HTMLOListElement | null>): ((to: RowPart) => void) => {
  const due = useRef<RowPart | undefined>(undefined)
  useLayoutEffect(() => {
    if (due.current === undefined || list.current === null) return
    const { index, part } = due.current
    due.current = undefined
    const row = list.current.children[index] ?? list.current.lastElementChild
    const heading = list.current.parentElement!.querySelector('h2')!
    const target =
      row?.querySelector<HTMLElement>(`[data-part=${part}]:enabled`) ??
      row?.querySelector<HTMLElement>('.step-actions :enabled')
    ;(target ?? heading).focus()
  })
  return (to) => {
    due.current = to
  }
}
