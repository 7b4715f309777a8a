import type { Client, Form } from '@fms/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'
import { type Title, TitleText, textOfTitle } from './title.tsx'

/** Moves the focus to the heading of the page. A link cannot do it: the fragment of the URL names a page. */
export const focusHeading = (): void => document.querySelector<HTMLElement>('#content h1')?.focus()

/**
 * Moves the focus to the heading once `value` has changed, if the returned function was called before: the row of the
 * button that was pressed is gone then.
 */
export const useHeadingFocus = (value: unknown): (() => void) => {
  const isDue = useRef(false)
  useLayoutEffect(() => {
    if (isDue.current) focusHeading()
    isDue.current = false
  }, [value])
  return () => {
    isDue.current = true
  }
}

/** What a page of an organization is about. */
export interface OrganizationProps {
  client: Client
  /** Slug or id. */
  organization: string
}

/** What a page of a form is about. */
export interface FormProps extends OrganizationProps {
  /** Public id or id. */
  form: string
}

/** What is known of a form for the link that respondents open. */
type PublicForm = Partial<Pick<Form, 'live' | 'publicUrl'>>

/**
 * A page: its heading, which gets the focus when the page opens, the link of the live form that it is about, and its content.
 * Sets the title of the tab.
 */
export const Page = ({
  title,
  form,
  actions,
  isSticky = false,
  children,
}: {
  title: Title
  /** What the page is about, once it is read. */
  form?: PublicForm | undefined
  /** Beside the heading. */
  actions?: ComponentChildren
  /** Whether heading and actions stay in sight while the page scrolls. */
  isSticky?: boolean
  children: ComponentChildren
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current!.focus(), [])
  const text = textOfTitle(title)
  useEffect(() => {
    document.title = `${text} – ${texts.product}`
  }, [text])
  return (
    <main id="content">
      <div class={isSticky ? 'title sticky' : 'title'}>
        <h1 ref={heading} tabIndex={-1}>
          <TitleText title={title} />
        </h1>
        <div class="actions">{actions}</div>
      </div>
      {form?.live && (
        <p>
          {texts.publicLink}{' '}
          <a href={form.publicUrl} target="_blank" rel="noreferrer">
            {form.publicUrl}
          </a>
        </p>
      )}
      {children}
    </main>
  )
}
