import type { Client, Form, Step } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { SelectField } from '../elements/field.tsx'
import { useLoaded } from '../elements/load.ts'
import { LoadError } from '../elements/load-error.tsx'
import { Page } from '../elements/page.tsx'
import type { JsonObject } from '../json/values.ts'
import { texts } from '../texts.ts'
import { AnswerInput } from './answer-input.tsx'
import { type Answer, type Answers, nextStep } from './next-step.ts'
import { textsIn } from './shown-step.ts'
import { kindOfStep } from './step-kind.ts'
import { themeStyle } from './theme-style.ts'

/** A form as a respondent would read it. Nothing is stored. */
export const PreviewPage = ({
  client,
  organization,
  form,
}: {
  client: Client
  organization: string
  form: string
}) => {
  const { loaded, reload } = useLoaded((signal) => client.forms.get(organization, form, { signal }))
  const { value } = loaded.value
  return (
    <Page title={value ? { text: texts.preview.titleOf, name: value.form.name } : texts.preview.title}>
      <p class="notice">{texts.preview.nothingStored}</p>
      <LoadError loaded={loaded.value} reload={reload} />
      {value && <Walk form={value.form} />}
    </Page>
  )
}

const Walk = ({ form }: { form: Form }) => {
  const locale = useSignal(form.i18n.sourceLocale)
  const answers = useSignal<Answers>(new Map())
  const visited = useSignal<readonly Step[]>(form.steps.slice(0, 1))
  const remark = useSignal('')
  const current = visited.value.at(-1)
  const locales = [...new Set([form.i18n.sourceLocale, ...form.i18n.supportedLocales])]

  const goOn = () => {
    const { step, missingKey, unknownOperators } = nextStep(form, current!, answers.value)
    remark.value = [
      ...(missingKey === undefined ? [] : [texts.preview.missingStep(missingKey)]),
      ...unknownOperators.map(texts.preview.unknownOperator),
      ...(step === undefined && missingKey === undefined ? [texts.preview.finished] : []),
    ].join(' ')
    if (step) visited.value = [...visited.value, step]
  }
  const restart = () => {
    answers.value = new Map()
    visited.value = form.steps.slice(0, 1)
    remark.value = ''
  }

  return (
    <>
      <div class="row">
        <SelectField
          label={texts.preview.language}
          value={locale.value}
          options={locales}
          onInput={(value) => {
            locale.value = value
          }}
        />
        <button type="button" onClick={restart}>
          {texts.preview.restart}
        </button>
      </div>
      {current === undefined ? (
        <p>{texts.preview.noSteps}</p>
      ) : (
        <StepCard
          key={visited.value.length}
          form={form}
          step={current}
          locale={locale.value}
          answer={answers.value.get(current.key)}
          onAnswer={(answer) => {
            answers.value = new Map(answers.value).set(current.key, answer)
          }}
          onNext={goOn}
          onBack={
            visited.value.length > 1
              ? () => {
                  remark.value = ''
                  visited.value = visited.value.slice(0, -1)
                }
              : undefined
          }
        />
      )}
      <p role="status">{remark.value}</p>
    </>
  )
}

const StepCard = ({
  form,
  step,
  locale,
  answer,
  onAnswer,
  onNext,
  onBack,
}: {
  form: Form
  step: Step
  locale: string
  answer: Answer | undefined
  onAnswer: (answer: Answer) => void
  onNext: () => void
  onBack: (() => void) | undefined
}) => {
  const shown = textsIn(form, step, locale)
  const kind = kindOfStep(step)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    if (onBack) heading.current!.focus()
  }, [])
  return (
    <section
      class="themed stage"
      // A form is JSON: its type has no index signature.
      style={themeStyle(form.theme as unknown as JsonObject)}
      lang={locale}
      dir="auto"
      aria-label={texts.preview.step}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onNext()
        }}
      >
        <h2 ref={heading} tabIndex={-1} class="themed-title">
          {shown.title || step.key}
        </h2>
        {shown.description && <p>{shown.description}</p>}
        {kind === 'unknown' ? (
          <div>
            <p>{texts.preview.unknownType(step.type)}</p>
            <pre>{JSON.stringify(step, null, 2)}</pre>
          </div>
        ) : (
          <AnswerInput step={step} kind={kind} shown={shown} answer={answer} onAnswer={onAnswer} />
        )}
        <footer>
          {(kind !== 'end' || shown.buttonText) && (
            <button type="submit" class="themed-button">
              {shown.buttonText || texts.preview.next}
            </button>
          )}
          {onBack && (
            <button type="button" class="themed-back" onClick={onBack}>
              {texts.preview.back}
            </button>
          )}
        </footer>
      </form>
    </section>
  )
}
