import type { IssuedKey, Key } from '@fms/client'
import { useSignal } from '@preact/signals'
import { Button } from '../elements/button.tsx'
import { Page, useHeadingFocus } from '../elements/page.tsx'
import { Table } from '../elements/table.tsx'
import { Time } from '../elements/time.tsx'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { type Session, signIn } from '../session/session.ts'
import { texts } from '../texts.ts'
import { NewKey } from './new-key.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { issuedSecret } from './secret-dialog.tsx'

const pageSize = 1_000

/** The keys of the user: create, rotate and revoke them. */
export const KeysPage = ({ session }: { session: Session }) => {
  const { client } = session
  const chosen = useSignal<{ key: Key; action: 'rotate' | 'revoke' } | undefined>(undefined)
  const { loaded, reload } = useLoaded((signal) => Array.fromAsync(client.keys.list({ pageSize, signal })))
  const { value } = loaded.value

  const focusHeadingLater = useHeadingFocus(value)

  const show = async (key: IssuedKey, replaced?: Key) => {
    issuedSecret.value = key.secret
    if (replaced) focusHeadingLater()
    // The session goes on with the key that replaces its own.
    if (replaced?.current) await signIn(key.secret, session.isTemporary)
    else reload()
  }
  const close = () => {
    chosen.value = undefined
  }
  return (
    <Page title={texts.keys.title}>
      <p>{texts.keys.explanation}</p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value && (
        <KeysTable
          keys={value}
          // A read-only key changes itself alone.
          actionsOn={(key) => (session.key.readOnly && !key.current ? [] : ['rotate', 'revoke'])}
          onChoose={(key, action) => {
            chosen.value = { key, action }
          }}
        />
      )}
      {session.key.readOnly ? (
        <p>{texts.keys.readOnlySession}</p>
      ) : (
        <NewKey client={client} current={session.key} onIssued={show} onFailed={reload} />
      )}
      {chosen.value?.action === 'rotate' && (
        <RotateDialog
          client={client}
          rotated={chosen.value.key}
          mayOverlap={!session.key.readOnly}
          onIssued={show}
          onFailed={reload}
          onClose={close}
        />
      )}
      {chosen.value?.action === 'revoke' && (
        <RevokeDialog
          session={session}
          revoked={chosen.value.key}
          onRevoked={() => {
            focusHeadingLater()
            reload()
          }}
          onClose={close}
        />
      )}
    </Page>
  )
}

const KeysTable = ({
  keys,
  actionsOn,
  onChoose,
}: {
  keys: Key[]
  actionsOn: (key: Key) => readonly ('rotate' | 'revoke')[]
  onChoose: (key: Key, action: 'rotate' | 'revoke') => void
}) => (
  <Table
    rows={keys}
    keyOf={({ path }) => path}
    columns={[
      {
        label: texts.keys.name,
        kind: 'name',
        cell: ({ name, current }) => (
          <>
            <bdi>{name || texts.keys.unnamed}</bdi>{' '}
            {current && <span class="badge live">{texts.keys.current}</span>}
          </>
        ),
      },
      { label: texts.keys.prefix, cell: ({ prefix }) => <code>fms_{prefix}…</code> },
      {
        label: texts.keys.rights,
        cell: ({ readOnly }) => (readOnly ? texts.keys.readOnly : texts.keys.readsAndWrites),
      },
      { label: texts.keys.created, cell: ({ createTime }) => <Time time={createTime} /> },
      { label: texts.keys.lastUsed, cell: ({ lastUsedTime }) => <TimeOrNever time={lastUsedTime} /> },
      { label: texts.keys.expires, cell: ({ expireTime }) => <TimeOrNever time={expireTime} /> },
      {
        label: texts.forms.actions,
        kind: 'actions',
        cell: (key) =>
          actionsOn(key).map((action) => (
            <Button
              key={action}
              class="quiet"
              aria-label={texts.keys[`${action}Key`](key.name || key.prefix)}
              onClick={() => onChoose(key, action)}
            >
              {texts.keys[action]}
            </Button>
          )),
      },
    ]}
  />
)

const TimeOrNever = ({ time }: { time: string }) =>
  time === '' ? <span>{texts.keys.never}</span> : <Time time={time} />
