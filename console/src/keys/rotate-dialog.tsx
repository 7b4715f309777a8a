import type { Client, IssuedKey, Key } from '@fms/client'
import { useSignal } from '@preact/signals'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { keptIn, SelectField } from '../elements/field.tsx'
import { texts } from '../texts.ts'

const overlapsSeconds = ['0', '3600', '86400', '604800'] as const

export const RotateDialog = ({
  client,
  rotated,
  mayOverlap,
  onIssued,
  onFailed,
  onClose,
}: {
  client: Client
  rotated: Key
  /** Whether the service lets the session keep the former key for some time. */
  mayOverlap: boolean
  onIssued: (issued: IssuedKey, replaced: Key) => Promise<void>
  /** Called if no new key has arrived. One may have been created nevertheless. */
  onFailed: () => void
  onClose: () => void
}) => {
  const overlap = useSignal<(typeof overlapsSeconds)[number]>('0')
  const rotate = async () => {
    const overlapSeconds = Number(overlap.value)
    const issued = await client.keys.rotate(rotated.path, { overlapSeconds }).catch((error: unknown) => {
      onFailed()
      throw error
    })
    await onIssued(issued, rotated)
  }
  return (
    <ConfirmDialog
      title={{ text: texts.keys.rotateKey, name: rotated.name || rotated.prefix }}
      confirm={texts.keys.rotate}
      onConfirm={rotate}
      onClose={onClose}
    >
      <p>{texts.keys.rotateExplanation}</p>
      <SelectField
        label={texts.keys.overlap}
        {...keptIn(overlap)}
        options={mayOverlap ? overlapsSeconds : (['0'] as const)}
        labels={texts.keys.overlaps}
      />
    </ConfirmDialog>
  )
}
