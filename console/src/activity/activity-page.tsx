import { type Client, type FormEvent, isReason } from '@fms/client'
import { useSignal, useSignalEffect } from '@preact/signals'
import { type OrganizationProps, Page } from '../elements/page.tsx'
import { Time } from '../elements/time.tsx'
import { useFormHead } from '../reading/form-head.ts'
import { useReloads } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { hrefOf } from '../routing/routes.ts'
import { userName } from '../session/user-name.ts'
import { texts } from '../texts.ts'

/** Events that are read at first. */
const firstEvents = 50
/** Events that stay on the page. */
const mostEvents = 500

/** The events of an organization, or of one of its forms. New ones arrive while the page is open. */
export const ActivityPage = ({ client, organization, form }: OrganizationProps & { form?: string }) => {
  const events = useSignal<readonly FormEvent[] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const head = useFormHead(client, organization, form, texts.activity)
  const { times, reload } = useReloads(() => error.value)
  const add = (added: readonly FormEvent[]) => {
    const shown = events.peek() ?? []
    const ids = new Set(shown.map(({ id }) => id))
    events.value = [...added.filter(({ id }) => !ids.has(id)), ...shown].slice(0, mostEvents)
  }
  const addLatest = (latest: readonly FormEvent[]) => {
    const newestShown = events.peek()?.[0]
    // If the newest one is not among them, events between the two are missing.
    if (latest.some(({ id }) => id === newestShown?.id)) add(latest)
    else events.value = latest
  }
  useSignalEffect(() => {
    times.value
    const abort = new AbortController()
    error.value = undefined
    follow(client, organization, form, { addLatest, add }, abort.signal).catch((thrown) => {
      if (!abort.signal.aborted) error.value = thrown
    })
    return () => abort.abort()
  })
  return (
    <Page {...head}>
      <p class="small">{texts.activity.explanation}</p>
      <LoadError loaded={{ error: error.value, isLoading: false }} reload={reload} />
      {events.value === undefined && error.value === undefined && <p>{texts.loading}</p>}
      {events.value?.length === 0 && <p>{texts.activity.none}</p>}
      <ol class="events" aria-live="polite" aria-relevant="additions">
        {events.value?.map((event) => (
          <Event key={event.id} event={event} organization={organization} isOfForm={form !== undefined} />
        ))}
      </ol>
    </Page>
  )
}

/** Reads the last events, then each new one. */
const follow = async (
  client: Client,
  organization: string,
  form: string | undefined,
  { addLatest, add }: Record<'addLatest' | 'add', (events: readonly FormEvent[]) => void>,
  signal: AbortSignal,
): Promise<void> => {
  const filter = form === undefined ? undefined : `form = "${await idOf(client, organization, form, signal)}"`
  const query = { ...(filter && { filter }), signal }
  const { value: page } = await client.events
    .list(organization, { ...query, orderBy: 'sequence desc', pageSize: firstEvents })
    .pages()
    .next()
  addLatest(page.items)
  let afterSequence: string = page.lastSequence
  for (;;) {
    try {
      for await (const event of client.events.watch(organization, { ...query, afterSequence })) {
        add([event])
        afterSequence = event.sequence
      }
    } catch (error) {
      // The page lay open while retention went on: continue where the log is now.
      if (!isReason(error, 'EVENTS_PRUNED') || !error.metadata.lastSequence) throw error
      afterSequence = error.metadata.lastSequence
    }
  }
}

const idOf = async (client: Client, organization: string, form: string, signal: AbortSignal) => {
  const found = await client.forms.get(organization, form, { readMask: 'path', signal })
  return found.form.path!.split('/').at(-1)!
}

const Event = ({
  event: { type, time, data },
  organization,
  isOfForm,
}: {
  event: FormEvent
  organization: string
  isOfForm: boolean
}) => (
  <li>
    <Time time={time} /> <strong>{texts.activity.types[type] ?? type}</strong>{' '}
    {!isOfForm && (
      <a href={hrefOf({ page: 'edit', organization, form: data.publicId })}>
        <bdi>{data.name}</bdi>
      </a>
    )}{' '}
    {data.number !== undefined && <span>{texts.revisions.name(data.number)}</span>}{' '}
    {data.fields && <code>{data.fields.join(', ')}</code>}{' '}
    <span class="small">
      {texts.activity.by} {'user' in data.actor ? userName(data.actor.user) : texts.users.operator}
    </span>
    {data.note && <q dir="auto">{data.note}</q>}
  </li>
)
