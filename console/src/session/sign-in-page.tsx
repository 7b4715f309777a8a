import { useSignal } from '@preact/signals'
import { useAction } from '../elements/action.ts'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { Field } from '../elements/field.tsx'
import { Form } from '../elements/form.tsx'
import { Page } from '../elements/page.tsx'
import { texts } from '../texts.ts'
import { entryError } from './entry.ts'
import { lastEnd, signIn } from './session.ts'

/** What every API key looks like. Other texts may not even fit a header. */
const keyPattern = /^fms_[\w-]+$/

/** Asks for a key. @param error of a sign-in with a code or of a former key */
export const SignInPage = ({ error: startError }: { error: unknown }) => {
  const key = useSignal('')
  const { error, isRunning, run } = useAction()
  const submit = () =>
    run(async () => {
      const apiKey = key.value.trim()
      if (!keyPattern.test(apiKey)) throw new Error(texts.signIn.noKey)
      await signIn(apiKey)
    })
  return (
    <Page title={texts.signIn.title}>
      {lastEnd.value && <p class="notice error">{texts.signIn.ends[lastEnd.value]}</p>}
      <p>{texts.signIn.explanation}</p>
      <Form
        class="card"
        onInput={() => {
          error.value = undefined
          entryError.value = undefined
        }}
        onSubmit={submit}
      >
        <Field label={texts.signIn.key} hint={texts.signIn.keyHint}>
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              required
              autocomplete="off"
              spellcheck={false}
              value={key.value}
              onInput={({ currentTarget }) => {
                key.value = currentTarget.value
              }}
            />
          )}
        </Field>
        <ErrorNotice error={error.value ?? startError} />
        <footer>
          <button type="submit" class="primary" aria-disabled={isRunning.value}>
            {texts.signIn.signIn}
          </button>
        </footer>
      </Form>
    </Page>
  )
}
