import type { Key } from '@fms/client'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { forgetSession, type Session } from '../session/session.ts'
import { texts } from '../texts.ts'

/** Revokes a key. Without the key of the session, the session ends. */
export const RevokeDialog = ({
  session,
  revoked,
  onRevoked,
  onClose,
}: {
  session: Session
  revoked: Key
  onRevoked: () => void
  onClose: () => void
}) => {
  const revoke = async () => {
    await session.client.keys.delete(revoked.path)
    if (revoked.current) forgetSession()
    else onRevoked()
  }
  return (
    <ConfirmDialog
      title={{ text: texts.keys.revokeKey, name: revoked.name || revoked.prefix }}
      confirm={texts.keys.revoke}
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>{texts.keys.revokeExplanation}</p>
      {revoked.current && <p>{texts.keys.revokeCurrent}</p>}
    </ConfirmDialog>
  )
}
