import {
  type FormChanges,
  type FormCheck,
  type FormPatch,
  isReason,
  type Step,
  type TaggedForm,
} from '@fms/client'
import { useSignal } from '@preact/signals'
import { fieldsOf } from '../editor/edits/fields-of-form.ts'
import { ownEdits } from '../editor/edits/own-edits.ts'
import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { ConfirmDialog } from '../elements/confirm-dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { CheckField, keptIn, TextField } from '../elements/field.tsx'
import { Form } from '../elements/form.tsx'
import { type FormProps, focusHeading, Page, useHeadingFocus } from '../elements/page.tsx'
import { type RemarkKind, remarkClasses } from '../elements/remark-texts.tsx'
import { TitleText } from '../elements/title.tsx'
import { headOf } from '../reading/form-head.ts'
import { useLoaded } from '../reading/load.ts'
import { LoadError } from '../reading/load-error.tsx'
import { texts } from '../texts.ts'
import { ChangeList } from './change-list.tsx'
import { type ComparedSteps, wordsOfField } from './change-words.ts'

/** The draft, what differs from the live revision, what keeps it from being published, and what may be better. */
interface Comparison extends TaggedForm, Pick<FormCheck, 'violations' | 'warnings'> {
  /** Undefined if no revision is live. */
  changes: FormChanges | undefined
  steps: ComparedSteps
}

const readComparison = async (
  { client, organization, form }: FormProps,
  signal: AbortSignal,
): Promise<Comparison> => {
  const draft = await client.forms.get(organization, form, { signal })
  if (draft.form.live) {
    const [changes, live] = await Promise.all([
      client.forms.changes(organization, form, { signal }),
      client.revisions.live(organization, form, { readMask: 'form.steps', signal }),
    ])
    const steps = { from: live.form?.steps ?? [], to: draft.form.steps }
    const { violations = [], warnings = [] } = changes
    return { ...draft, changes, steps, violations, warnings }
  }
  const check = await client.forms.check(organization, fieldsOf(draft.form) as FormPatch, { signal })
  return { ...draft, changes: undefined, steps: { from: [], to: [] }, ...check }
}

/** What changed since the last publish, and the button. */
export const PublishPage = (props: FormProps & { mayWrite: boolean }) => {
  const { loaded, reload } = useLoaded((signal) => readComparison(props, signal))
  const { value } = loaded.value
  const focusHeadingLater = useHeadingFocus(value)
  const done = useSignal('')
  const finish = (message: string) => {
    done.value = message
    reload()
  }
  const finishUnpublish = (message: string) => {
    // The button disappears.
    focusHeadingLater()
    finish(message)
  }
  return (
    <Page {...headOf(texts.publish, value?.form)}>
      <LoadError loaded={loaded.value} reload={reload} />
      <p role="status" class="done">
        {done.value}
      </p>
      {value && <Changes comparison={value} />}
      {value && props.mayWrite && (
        <PublishFields {...props} comparison={value} onDone={finish} onReload={reload} />
      )}
      {value?.form.live && props.mayWrite && <Unpublish {...props} onDone={finishUnpublish} />}
    </Page>
  )
}

const Changes = ({ comparison }: { comparison: Comparison }) => {
  const { form, changes, steps, violations, warnings } = comparison
  const hasUnsaved = ownEdits().read(form.path, fieldsOf(form)) !== undefined
  const prevented = new Set(violations.map(({ subject }) => subject))
  return (
    <section class="card">
      <h2>{texts.publish.changes}</h2>
      {hasUnsaved && <p class="notice">{texts.publish.unsaved}</p>}
      {changes === undefined && <p>{texts.publish.notLive}</p>}
      {changes?.changes.length === 0 && <p>{texts.publish.nothingChanged}</p>}
      {changes && changes.breakingCount > 0 && (
        <p class="notice error">{texts.publish.breaking(changes.breakingCount)}</p>
      )}
      {changes && <ChangeList changes={changes.changes} steps={steps} />}
      <Remarks
        kind="violations"
        remarks={violations.map(({ subject, description }) => ({ field: subject, text: description }))}
        steps={form.steps}
      />
      <Remarks
        kind="warnings"
        remarks={warnings
          .filter(({ field }) => !prevented.has(field))
          .map(({ field, message }) => ({ field, text: message }))}
        steps={form.steps}
      />
    </section>
  )
}

const Remarks = ({
  kind,
  remarks,
  steps,
}: {
  kind: RemarkKind
  remarks: readonly { field: string; text: string }[]
  steps: readonly Step[]
}) =>
  remarks.length === 0 ? null : (
    <>
      <h3>{texts.publish[kind](remarks.length)}</h3>
      <ul>
        {remarks.map(({ field, text }) => (
          <li key={`${field} ${text}`} class={remarkClasses[kind]}>
            <TitleText title={wordsOfField(field, steps)} />: {text}
          </li>
        ))}
      </ul>
    </>
  )

/** Differs as soon as the draft or the live revision is another one. */
const keyOf = ({ etag, changes }: Comparison): string => `${etag} ${changes?.from}`

interface ActionProps extends FormProps {
  onDone: (message: string) => void
}

const PublishFields = ({
  client,
  organization,
  form,
  comparison,
  onDone,
  onReload,
}: ActionProps & { comparison: Comparison; onReload: () => void }) => {
  const note = useSignal('')
  /** The comparison whose breaking changes somebody accepted. Another comparison needs its own consent. */
  const accepted = useSignal<string | undefined>(undefined)
  const { error, isRunning, run, clearError } = useAction()
  const breakingCount = comparison.changes?.breakingCount ?? 0
  const acceptsBreaking = accepted.value === keyOf(comparison)
  const isPublishable = comparison.violations.length === 0 && comparison.changes?.changes.length !== 0
  const mayPublish = isPublishable && (breakingCount === 0 || acceptsBreaking)
  const publish = () =>
    run(async () => {
      if (!mayPublish) return
      await client.forms.publish(organization, form, {
        ifMatch: comparison.etag,
        note: note.value,
        // Whoever read the list accepts what was in it. Another publish in between may make more breaking.
        refuseBreaking: !acceptsBreaking,
      })
      note.value = ''
      onDone(texts.publish.done)
    })
  const showChanges = () => {
    clearError()
    onReload()
    // The button disappears.
    focusHeading()
  }
  return (
    <section class="card">
      <Form onInput={clearError} onSubmit={publish}>
        <TextField label={texts.publish.note} hint={texts.publish.noteHint} {...keptIn(note)} />
        {breakingCount > 0 && (
          <CheckField
            label={texts.publish.acceptBreaking}
            value={acceptsBreaking}
            onInput={(isAccepted) => {
              accepted.value = isAccepted ? keyOf(comparison) : undefined
            }}
          />
        )}
        <ErrorNotice error={error.value} />
        {isReason(error.value, 'FORM_MOVED', 'BREAKING_CHANGES') && (
          <Button onClick={showChanges}>{texts.publish.showChanges}</Button>
        )}
        <footer>
          <button type="submit" class="primary" aria-disabled={isRunning.value || !mayPublish}>
            {texts.publish.publish}
          </button>
        </footer>
      </Form>
    </section>
  )
}

const Unpublish = ({ client, organization, form, onDone }: ActionProps) => {
  const isAsking = useSignal(false)
  const close = () => {
    isAsking.value = false
  }
  return (
    <section class="card">
      <h2>{texts.unpublish.title}</h2>
      <p>{texts.unpublish.explanation}</p>
      <Button
        class="danger"
        onClick={() => {
          isAsking.value = true
        }}
      >
        {texts.unpublish.unpublish}
      </Button>
      {isAsking.value && (
        <ConfirmDialog
          title={texts.unpublish.title}
          confirm={texts.unpublish.unpublish}
          onConfirm={async () => {
            await client.forms.unpublish(organization, form)
            onDone(texts.unpublish.done)
          }}
          onClose={close}
        >
          <p>{texts.unpublish.explanation}</p>
        </ConfirmDialog>
      )}
    </section>
  )
}
