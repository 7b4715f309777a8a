import type { Step } from '@fms/client'
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../elements/button.tsx'
import { keptIn, SelectField } from '../elements/field.tsx'
import { Form } from '../elements/form.tsx'
import { asText, type JsonObject } from '../json/values.ts'
import { texts } from '../texts.ts'
import { AnswerInput } from './answer-input.tsx'
import type { PreviewedForm } from './as-form.ts'
import { Background, backgroundOf } from './background.tsx'
import { remarkOnChosen } from './choices.ts'
import { FormHead } from './form-head.tsx'
import { FormImage } from './form-image.tsx'
import { isSameLocale } from './locales.ts'
import { type Answer, type Answers, nextStep } from './next-step.ts'
import { textsIn } from './shown-step.ts'
import { kindOfStep, type StepKind } from './step-kind.ts'
import { themeStyle } from './theme-style.ts'

/** A step on the way through a form. Its key, or its place if it has another key now, finds it while somebody edits. */
interface Visit {
  key: string
  index: number
}

/** Steps that the preview cannot answer, so that they hold nobody up. */
const unanswered: ReadonlySet<StepKind> = new Set([
  'start',
  'end',
  'statement',
  'ranking',
  'file',
  'payment',
  'unknown',
])

/** Whether a step requires an answer that it does not have. */
const isMissing = (step: Step, answers: Answers): boolean =>
  'required' in step &&
  step.required === true &&
  !unanswered.has(kindOfStep(step)) &&
  (answers.get(step.key) ?? '').length === 0

/**
 * A form as respondents meet it, step by step. It stays at its step while the form changes.
 *
 * @param openStep the index of a step to go to when another one is opened
 * @param ending what to say at the end
 * @param isPage whether the page shows nothing else, so that the name of the form is its heading
 */
export const Walk = ({
  form,
  openStep,
  ending,
  isPage = false,
}: {
  form: PreviewedForm
  openStep?: number | undefined
  ending?: string
  isPage?: boolean
}) => {
  const locale = useSignal(form.i18n.sourceLocale)
  const answers = useSignal<Answers>(new Map())
  const visits = useSignal<readonly Visit[]>([])
  const remark = useSignal('')
  const hasMoved = useRef(false)
  const { steps } = form
  const stepOf = ({ key, index }: Visit) => steps.find((step) => step.key === key) ?? steps[index]
  const visitOf = (step: Step): Visit => ({ key: step.key, index: steps.indexOf(step) })
  const visit = visits.value.at(-1)
  const current = (visit && stepOf(visit)) ?? steps[0]
  const { sourceLocale, supportedLocales } = form.i18n
  const locales = [sourceLocale, ...supportedLocales.filter((each) => !isSameLocale(each, sourceLocale))]

  const opened = openStep === undefined ? undefined : steps[openStep]
  useLayoutEffect(() => {
    if (opened === undefined) return
    hasMoved.current = false
    remark.value = ''
    visits.value = [visitOf(opened)]
    // A new step may have the place of the one that was open.
  }, [openStep, opened?.key])
  // A step whose key changes stays the current one when it moves later.
  useLayoutEffect(() => {
    if (visit && current && (visit.key !== current.key || steps[visit.index] !== current))
      visits.value = visits.peek().with(-1, visitOf(current))
  }, [steps])

  /** @param problem what the browser says about the answer; `""` for nothing */
  const goOn = (problem: string) => {
    remark.value = isMissing(current!, answers.value)
      ? texts.preview.required
      : problem || remarkOnChosen(current!, answers.value.get(current!.key))
    if (remark.value !== '') return
    const { step, missingKey, unknownOperators } = nextStep(form, current!, answers.value)
    remark.value = [
      ...(missingKey === undefined ? [] : [texts.preview.missingStep(missingKey)]),
      ...unknownOperators.map(texts.preview.unknownOperator),
      ...(step === undefined && missingKey === undefined ? [texts.preview.finished] : []),
      ...(ending && (step ? kindOfStep(step) === 'end' : missingKey === undefined) ? [ending] : []),
    ].join(' ')
    if (!step) return
    hasMoved.current = true
    visits.value = [...(visit ? visits.value : [visitOf(current!)]), visitOf(step)]
  }
  const goBack = () => {
    hasMoved.current = true
    remark.value = ''
    visits.value = visits.value.slice(0, -1)
  }
  const restart = () => {
    hasMoved.current = false
    answers.value = new Map()
    visits.value = []
    remark.value = ''
  }

  return (
    <>
      <FormHead form={form} locale={locale.value} isPage={isPage} />
      <div class="row">
        <SelectField label={texts.preview.language} {...keptIn(locale)} options={locales} />
        <Button onClick={restart}>{texts.preview.restart}</Button>
      </div>
      {current === undefined ? (
        <p>{texts.preview.noSteps}</p>
      ) : (
        <StepCard
          key={`${visits.value.length} ${steps.indexOf(current)}`}
          form={form}
          step={current}
          locale={locale.value}
          answer={answers.value.get(current.key)}
          isFocused={hasMoved.current}
          onAnswer={(answer) => {
            answers.value = new Map(answers.value).set(current.key, answer)
          }}
          onNext={goOn}
          onBack={visits.value.length > 1 ? goBack : undefined}
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
  isFocused,
  onAnswer,
  onNext,
  onBack,
}: {
  form: PreviewedForm
  step: Step
  locale: string
  answer: Answer | undefined
  /** Whether its heading has the focus at first. */
  isFocused: boolean
  onAnswer: (answer: Answer) => void
  onNext: (problem: string) => void
  onBack: (() => void) | undefined
}) => {
  const shown = textsIn(form, step, locale)
  const kind = kindOfStep(step)
  const heading = useRef<HTMLHeadingElement>(null)
  /** The URL of the image that could not be loaded. */
  const missing = useSignal('')
  const found = backgroundOf(form, step)
  const background = found?.url === missing.value ? undefined : found
  useLayoutEffect(() => {
    if (isFocused) heading.current!.focus()
  }, [])
  return (
    <section
      class={`themed stage ${background?.position ?? ''}`}
      // A form is JSON: its type has no index signature.
      style={themeStyle(form.theme as unknown as JsonObject)}
      lang={locale}
      dir="auto"
      aria-label={texts.preview.step}
    >
      {background && (
        <Background
          {...background}
          onMissing={() => {
            missing.value = background.url
          }}
        />
      )}
      <Form
        noValidate
        onSubmit={(form) => {
          const invalid = form.querySelector<HTMLInputElement>('input:invalid, textarea:invalid')
          onNext(invalid?.validationMessage ?? '')
        }}
      >
        <FormImage url={asText(step.logoUrl)} name="logo" />
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
            <Button class="themed-back" onClick={onBack}>
              {texts.preview.back}
            </Button>
          )}
        </footer>
      </Form>
    </section>
  )
}
