import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'

/** A page: its heading, which gets the focus when the page opens, and its content. Sets the title of the tab. */
export const Page = ({
  title,
  actions,
  children,
}: {
  title: string
  /** Beside the heading. */
  actions?: ComponentChildren
  children: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current!.focus(), [])
  useEffect(() => {
    document.title = `${title} – ${texts.product}`
  }, [title])
  return (
    <main id="content">
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </main>
  )
}
