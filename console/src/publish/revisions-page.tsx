import type { Revision } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { Form } from '../elements/form.tsx'
import { type FormProps, Page } from '../elements/page.tsx'
import { type Column, Table } from '../elements/table.tsx'
import { Time } from '../elements/time.tsx'
import { useFormHead } from '../reading/form-head.ts'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { MoreButton } from '../reading/more-button.tsx'
import { readPages } from '../reading/read-pages.ts'
import { goTo } from '../routing/navigation.ts'
import { hrefOf } from '../routing/routes.ts'
import { userName } from '../session/user-name.ts'
import { texts } from '../texts.ts'

type ListedRevision = Omit<Revision, 'form'>
/** The members of a revision in the list: all but the form. */
const members = 'path,alternateIds,createTime,number,publisher,note'
const pageSize = 1_000

type RevisionsPageProps = FormProps & { mayWrite: boolean }

/** The revisions of a form: compare any two, and roll the draft back. */
export const RevisionsPage = ({ client, organization, form, mayWrite }: RevisionsPageProps) => {
  const pages = useSignal(1)
  const head = useFormHead(client, organization, form, texts.revisions)
  const { loaded, reload } = useLoaded((signal) =>
    readPages(
      client.revisions.list(organization, form, { pageSize, readMask: members, signal }),
      pages.value,
    ),
  )
  const { value, isLoading } = loaded.value
  return (
    <Page {...head}>
      <LoadError loaded={loaded.value} reload={reload} />
      {value?.items.length === 0 && <p>{texts.revisions.none}</p>}
      {value && value.items.length > 0 && (
        <RevisionsTable
          revisions={value.items as ListedRevision[]}
          client={client}
          organization={organization}
          form={form}
          mayWrite={mayWrite}
        />
      )}
      <MoreButton
        label={texts.revisions.more}
        list={value}
        isLoading={isLoading}
        onMore={() => {
          pages.value++
        }}
      />
    </Page>
  )
}

const idOf = ({ path }: Pick<Revision, 'path'>): string => path.slice(path.lastIndexOf('/') + 1)

type Row = ListedRevision | 'draft'

const RevisionsTable = ({
  revisions,
  client,
  organization,
  form,
  mayWrite,
}: RevisionsPageProps & { revisions: ListedRevision[] }) => {
  const live = revisions.find(({ alternateIds }) => alternateIds.includes('live'))
  const from = useSignal(idOf(live ?? revisions[0]!))
  const to = useSignal('draft')
  const rollback = useSignal<{ revision: ListedRevision; etag: string } | undefined>(undefined)
  const { error, isRunning, run } = useAction()
  const askForRollback = async (revision: ListedRevision) => {
    const { etag } = await client.forms.get(organization, form, { readMask: 'updateTime' })
    rollback.value = { revision, etag }
  }
  const columns: Column<Row>[] = [
    {
      label: texts.revisions.from,
      cell: (row) =>
        row !== 'draft' && (
          <Choose name="from" chosen={from} id={idOf(row)} label={texts.revisions.fromNumber(row.number)} />
        ),
    },
    {
      label: texts.revisions.to,
      cell: (row) =>
        row === 'draft' ? (
          <Choose name="to" chosen={to} id={row} label={texts.revisions.toDraft} />
        ) : (
          <Choose name="to" chosen={to} id={idOf(row)} label={texts.revisions.toNumber(row.number)} />
        ),
    },
    { label: texts.revisions.number, kind: 'name', cell: (row) => <NumberAndState row={row} /> },
    {
      label: texts.revisions.note,
      kind: 'note',
      cell: (row) => row !== 'draft' && row.note && <bdi>{row.note}</bdi>,
    },
    { label: texts.revisions.publisher, cell: (row) => row !== 'draft' && userName(row.publisher) },
    { label: texts.revisions.time, cell: (row) => row !== 'draft' && <Time time={row.createTime} /> },
  ]
  const actions: Column<Row> = {
    label: texts.forms.actions,
    kind: 'actions',
    cell: (row) =>
      row !== 'draft' && (
        <Button
          class="quiet"
          aria-disabled={isRunning.value}
          aria-label={texts.rollback.toNumber(row.number)}
          onClick={() => run(() => askForRollback(row))}
        >
          {texts.rollback.rollback}
        </Button>
      ),
  }
  const compare = () => goTo({ page: 'compare', organization, form, from: from.value, to: to.value })
  return (
    <Form onSubmit={compare}>
      <Table
        rows={['draft' as const, ...revisions]}
        keyOf={(row) => (row === 'draft' ? row : idOf(row))}
        columns={mayWrite ? [...columns, actions] : columns}
      />
      <footer>
        <button type="submit" class="primary">
          {texts.revisions.compare}
        </button>
      </footer>
      <ErrorNotice error={error.value} />
      {rollback.value && (
        <RollbackDialog
          key={rollback.value.etag}
          client={client}
          organization={organization}
          form={form}
          {...rollback.value}
          onAskAgain={askForRollback}
          onClose={() => {
            rollback.value = undefined
          }}
        />
      )}
    </Form>
  )
}

const NumberAndState = ({ row }: { row: Row }) =>
  row === 'draft' ? (
    texts.revisions.draft
  ) : (
    <>
      {row.number} {row.alternateIds.includes('live') && <span class="badge live">{texts.states.live}</span>}
    </>
  )

const Choose = ({
  name,
  chosen,
  id,
  label,
}: {
  name: string
  chosen: { value: string }
  id: string
  label: string
}) => (
  <input
    type="radio"
    name={name}
    aria-label={label}
    checked={chosen.value === id}
    onChange={() => {
      chosen.value = id
    }}
  />
)

const RollbackDialog = ({
  client,
  organization,
  form,
  revision,
  etag,
  onAskAgain,
  onClose,
}: FormProps & {
  revision: ListedRevision
  /** Of the draft when the dialog opens: the rollback is refused if somebody edits the draft after that. */
  etag: string
  /** Opens the dialog for the new state of the draft. */
  onAskAgain: (revision: ListedRevision) => Promise<void>
  onClose: () => void
}) => {
  const rollBack = async () => {
    await client.revisions.rollback(organization, form, idOf(revision), { ifMatch: etag })
    goTo({ page: 'publish', organization, form })
  }
  return (
    <ConfirmDialog
      title={texts.rollback.toNumber(revision.number)}
      confirm={texts.rollback.rollback}
      onConfirm={rollBack}
      onClose={onClose}
      readAgain={() => onAskAgain(revision)}
    >
      <p>{texts.rollback.explanation}</p>
      <p>
        <a href={hrefOf({ page: 'compare', organization, form, from: idOf(revision), to: 'draft' })}>
          {texts.rollback.compareFirst}
        </a>
      </p>
    </ConfirmDialog>
  )
}
