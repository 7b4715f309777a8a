import type { Client, IssuedKey, Key } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useAction } from '../elements/action.ts'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { CheckField, keptIn, SelectField, TextField } from '../elements/field.tsx'
import { Form } from '../elements/form.tsx'
import { texts } from '../texts.ts'

/** Lifetimes in days. */
const lifetimes = ['never', '30', '90', '365'] as const
type Lifetime = (typeof lifetimes)[number] | 'current'

const msPerDay = 86_400_000

/** The form for a new key. A key that expires makes none that lives longer. */
export const NewKey = ({
  client,
  current,
  onIssued,
  onFailed,
}: {
  client: Client
  /** The key of the session. */
  current: Key
  onIssued: (issued: IssuedKey) => Promise<void>
  /** Called if no key has arrived. One may have been created nevertheless. */
  onFailed: () => void
}) => {
  const expires = current.expireTime !== ''
  const offered: readonly Lifetime[] = expires ? ['current'] : lifetimes
  const name = useSignal('')
  const readOnly = useSignal(false)
  const lifetime = useSignal<Lifetime>(offered[0]!)
  const { error, isRunning, run, clearError } = useAction()
  const create = () =>
    run(async () => {
      const expireTime = expireTimeOf(lifetime.value, current)
      const key = { name: name.value, readOnly: readOnly.value, ...(expireTime && { expireTime }) }
      const issued = await client.keys.create(key).catch((error: unknown) => {
        onFailed()
        throw error
      })
      name.value = ''
      readOnly.value = false
      await onIssued(issued)
    })
  return (
    <section class="card">
      <h2>{texts.keys.new}</h2>
      <Form onInput={clearError} onSubmit={create}>
        <div class="row">
          <TextField label={texts.keys.name} {...keptIn(name)} />
          <SelectField
            label={texts.keys.lifetime}
            hint={expires ? texts.keys.temporaryHint : undefined}
            {...keptIn(lifetime)}
            options={offered}
            labels={texts.keys.lifetimes}
          />
        </div>
        <CheckField label={texts.keys.onlyReads} {...keptIn(readOnly)} />
        <ErrorNotice error={error.value} />
        <footer>
          <button type="submit" class="primary" aria-disabled={isRunning.value}>
            {texts.keys.create}
          </button>
        </footer>
      </Form>
    </section>
  )
}

const expireTimeOf = (lifetime: Lifetime, current: Key): string => {
  if (lifetime === 'never') return ''
  if (lifetime === 'current') return current.expireTime
  return new Date(Date.now() + Number(lifetime) * msPerDay).toISOString()
}
