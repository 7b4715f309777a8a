import { type FormProps, Page } from '../elements/page.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
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
}: FormProps & {
  /** The id of a revision, or `live`. */
  from: string
  /** `draft`, or as `from`. */
  to: string
}) => {
  const { loaded, reload } = useLoaded(async (signal) => {
    // The steps are large.
    const readMask = [from, to].includes('draft') ? 'name,steps,live,publicUrl' : 'live,publicUrl'
    const draft = client.forms.get(organization, form, { readMask, signal })
    const read = async (ref: string) => {
      if (ref === 'draft') {
        const { name, steps = [] } = (await draft).form
        return { form: name, name: texts.revisions.draft, steps }
      }
      const readMask = 'number,form.name,form.steps'
      const revision = await client.revisions.get(organization, form, ref, { readMask, signal })
      const { number = 0, form: state } = revision
      return { form: state?.name, name: texts.revisions.name(number), steps: state?.steps ?? [] }
    }
    const [{ form: head }, { changes }, fromState, toState] = await Promise.all([
      draft,
      client.forms.changes(organization, form, { from, to, signal }),
      read(from),
      read(to),
    ])
    return { head, changes, fromState, toState }
  })
  const { value } = loaded.value
  return (
    <Page
      title={
        value
          ? {
              text: (form) => texts.compare.titleOf(form, value.fromState.name, value.toState.name),
              name: value.toState.form ?? '',
            }
          : texts.compare.title
      }
      form={value?.head}
    >
      <p>
        <a href={hrefOf({ page: 'revisions', organization, form })}>{texts.revisions.title}</a>
        {' · '}
        <a
          href={hrefOf({ page: 'compare', organization, form, from: to === 'draft' ? 'live' : to, to: from })}
        >
          {to === 'draft' ? texts.compare.withLive : texts.compare.exchange}
        </a>
      </p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value?.changes.length === 0 && <p>{texts.compare.equal}</p>}
      {value && (
        <ChangeList
          changes={value.changes}
          steps={{ from: value.fromState.steps, to: value.toState.steps }}
        />
      )}
    </Page>
  )
}
