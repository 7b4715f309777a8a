import type { Client } from '@fms/client'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { useLoaded } from '../elements/load.ts'
import { Page } from '../elements/page.tsx'
import { hrefOf } from '../routing/routes.ts'
import { texts } from '../texts.ts'
import { ChangeList } from './change-list.tsx'

/** What differs between two states of a form. */
export const ComparePage = ({
  client,
  organization,
  form,
  from,
  to,
}: {
  client: Client
  organization: string
  form: string
  /** The id of a revision, or `live`. */
  from: string
  /** `draft`, or as `from`. */
  to: string
}) => {
  const { loaded } = useLoaded(async (signal) => {
    const name = async (ref: string) => {
      if (ref === 'draft') return texts.revisions.draft
      const { number = 0 } = await client.revisions.get(organization, form, ref, {
        readMask: 'number',
        signal,
      })
      return texts.revisions.name(number)
    }
    const [changes, fromName, toName] = await Promise.all([
      client.forms.changes(organization, form, { from, to, signal }),
      name(from),
      name(to),
    ])
    return { changes, fromName, toName }
  })
  const { value, error } = loaded.value
  return (
    <Page title={value ? texts.compare.titleOf(value.fromName, value.toName) : texts.compare.title}>
      <p>
        <a href={hrefOf({ page: 'revisions', organization, form })}>{texts.revisions.title}</a>
        {' · '}
        <a
          href={hrefOf({ page: 'compare', organization, form, from: to === 'draft' ? 'live' : to, to: from })}
        >
          {to === 'draft' ? texts.compare.withLive : texts.compare.exchange}
        </a>
      </p>
      <ErrorNotice error={error} />
      {value?.changes.changes.length === 0 && <p>{texts.compare.equal}</p>}
      {value && <ChangeList changes={value.changes.changes} />}
    </Page>
  )
}
