import type { Client, IssuedKey, Key } from '@fms/client'
import { useSignal } from '@preact/signals'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { SelectField } from '../elements/field.tsx'
import { texts } from '../texts.ts'

const overlapsSeconds = ['0', '3600', '86400', '604800'] as const

/** Replaces a key by a new one. */
export const RotateDialog = ({
  client,
  rotated,
  onIssued,
  onClose,
}: {
  client: Client
  rotated: Key
  onIssued: (issued: IssuedKey, replaced: Key) => Promise<void>
  onClose: () => void
}) => {
  const overlap = useSignal<(typeof overlapsSeconds)[number]>('0')
  const rotate = async () =>
    onIssued(await client.keys.rotate(rotated.path, { overlapSeconds: Number(overlap.value) }), rotated)
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
        value={overlap.value}
        options={overlapsSeconds}
        labels={texts.keys.overlaps}
        onInput={(value) => {
          overlap.value = value
        }}
      />
    </ConfirmDialog>
  )
}
