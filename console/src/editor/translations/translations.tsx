import type { JsonValue } from '@fms/client'
import { useSignal } from '@preact/signals'
import { Button } from '../../elements/button.tsx'
import { keptIn, TextField } from '../../elements/field.tsx'
import { Form } from '../../elements/form.tsx'
import { memo } from '../../elements/memo.ts'
import { asList, asObject, asText } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import type { FormEdit } from '../edits/form-edit.ts'
import { RemarkBadge, RemarkList } from '../remark-list.tsx'
import { remarksAt, remarksElsewhere, worstWithin } from '../remarks.ts'
import { nameOfStep } from '../steps/step-name.ts'
import {
  sourceTexts,
  type TextPlace,
  targetLocales,
  translationAt,
  withLocale,
  withoutLocale,
  withSourceLocale,
  withTranslation,
} from './translated-texts.ts'

/** The languages of a form, with a table of its texts. */
export const Translations = ({ edit, disabled }: { edit: FormEdit; disabled: boolean }) => {
  const isOpen = useSignal(false)
  return (
    <details
      class="card"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>
        {texts.translations.title} <RemarkBadge kind={worstWithin(edit.remarks.value, 'form.i18n')} />
      </summary>
      {isOpen.value && <Languages edit={edit} disabled={disabled} />}
    </details>
  )
}

const Languages = ({ edit, disabled }: { edit: FormEdit; disabled: boolean }) => {
  const fields = edit.fields.value
  const i18n = asObject(fields.i18n)
  const locales = targetLocales(i18n)
  const added = useSignal('')
  const remarks = edit.remarks.value
  const add = () => {
    const locale = added.value.trim()
    if (locale === '') return
    added.value = ''
    edit.change({ i18n: withLocale(i18n, locale) })
  }
  return (
    <>
      <TextField
        label={texts.translations.source}
        value={asText(i18n.sourceLocale)}
        {...remarksAt(remarks, 'form.i18n.sourceLocale')}
        disabled={disabled}
        onInput={(sourceLocale) => edit.change({ i18n: withSourceLocale(i18n, sourceLocale) })}
      />
      <RemarkList remarks={remarksElsewhere(remarks, 'form.i18n', ['sourceLocale'])} />
      {!disabled && (
        <Form class="row" onSubmit={add}>
          <TextField label={texts.translations.new} hint={texts.translations.newHint} {...keptIn(added)} />
          <button type="submit">{texts.translations.add}</button>
        </Form>
      )}
      {locales.length > 0 && (
        <table class="cards texts">
          <thead>
            <tr>
              <th scope="col">{asText(i18n.sourceLocale)}</th>
              {locales.map((locale) => (
                <th key={locale} scope="col">
                  {locale}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sourceTexts(fields).map(({ place, text, stepIndex }) => (
              <TextRow
                key={place.join(' ')}
                place={place}
                text={text}
                about={aboutOf(place, stepIndex, fields.steps)}
                locales={locales}
                translations={locales.map((locale) => translationAt(i18n, locale, place))}
                disabled={disabled}
                edit={edit}
              />
            ))}
          </tbody>
        </table>
      )}
      {!disabled &&
        locales.map((locale) => (
          <Button
            key={locale}
            class="quiet"
            onClick={() => edit.change({ i18n: withoutLocale(i18n, locale) })}
          >
            {texts.translations.remove(locale)}
          </Button>
        ))}
    </>
  )
}

/** What a text is, such as `Title of Fee`. */
const aboutOf = (place: TextPlace, stepIndex: number | undefined, steps: JsonValue | undefined): string => {
  const labels: Readonly<Record<string, string>> = { ...texts.fields, ...texts.step.members }
  const [first, , member, option] = place
  if (stepIndex === undefined || member === undefined) return labels[first] ?? first
  const what = option === undefined ? labels[member]! : texts.translations.option(option + 1)
  return texts.changes.memberOf(what, nameOfStep(asObject(asList(steps)[stepIndex])))
}

interface TextRowProps {
  place: TextPlace
  text: string
  about: string
  locales: readonly string[]
  translations: readonly ReturnType<typeof translationAt>[]
  disabled: boolean
  edit: FormEdit
}

/** Drawn again only if one of its texts differs: a form may have thousands of them. */
const TextRow = memo(
  ({ place, text, about, locales, translations, disabled, edit }: TextRowProps) => (
    <tr>
      <th scope="row">
        <span class="small">{about}</span>
        <br />
        <bdi>{text}</bdi>
      </th>
      {locales.map((locale, index) => (
        <td key={locale} data-label={locale}>
          <textarea
            rows={1}
            lang={locale}
            dir="auto"
            aria-label={texts.translations.inLocale(about, locale)}
            value={asText(translations[index]!.value)}
            disabled={disabled}
            onInput={({ currentTarget }) => {
              const i18n = asObject(edit.fields.peek().i18n)
              edit.change({ i18n: withTranslation(i18n, locale, place, currentTarget.value) })
            }}
          />
          {translations[index]!.stale === true && <span class="small">{texts.translations.stale}</span>}
        </td>
      ))}
    </tr>
  ),
  (before, after) =>
    before.text === after.text &&
    before.about === after.about &&
    before.disabled === after.disabled &&
    before.locales.join() === after.locales.join() &&
    before.translations.every((each, index) => {
      const next = after.translations[index]
      return each.value === next?.value && each.stale === next?.stale
    }),
)
