import type { Form } from '@fms/client'
import { texts } from '../texts.ts'

/** The link that respondents open. Renders nothing for a form that is not live. */
export const PublicLink = ({ form: { live, publicUrl } }: { form: Pick<Form, 'live' | 'publicUrl'> }) =>
  live ? (
    <p>
      {texts.publicLink}{' '}
      <a href={publicUrl} target="_blank" rel="noreferrer">
        {publicUrl}
      </a>
    </p>
  ) : null
