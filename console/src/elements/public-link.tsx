import type { Form } from '@fms/client'
import { texts } from '../texts.ts'

/** What is known of a form for its link. */
export type PublicForm = Partial<Pick<Form, 'live' | 'publicUrl'>>

/** The link that respondents open. Renders nothing for a form that is not live. */
export const PublicLink = ({ live, publicUrl }: PublicForm) =>
  live ? (
    <p>
      {texts.publicLink}{' '}
      <a href={publicUrl} target="_blank" rel="noreferrer">
        {publicUrl}
      </a>
    </p>
  ) : null
