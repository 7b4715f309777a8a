import { NumberField, TextField } from '../elements/field.tsx'
import type { RemarksAbout } from '../elements/remark-texts.tsx'
import { asText, type JsonObject } from '../json/values.ts'
import { themeStyle } from '../preview/theme-style.ts'
import { texts } from '../texts.ts'
import { RemarkBadge, RemarkList } from './remark-list.tsx'
import { type Remarks, remarksAt, remarksElsewhere, worstWithin } from './remarks.ts'

const colors = ['backgroundColor', 'foregroundColor', 'primaryColor', 'buttonTextColor'] as const
const choices = ['fontFamily', 'textSize', 'buttonSize', 'textAnimation'] as const

/** The members of a theme that have a field here. */
const shown = [...colors, 'buttonRadiusPx', ...choices]

/** Values that are known for the open lists of a theme. Any other text is allowed. */
const suggestions: Record<(typeof choices)[number], readonly string[]> = {
  fontFamily: ['sans', 'serif', 'mono'],
  textSize: ['small', 'regular', 'large'],
  buttonSize: ['small', 'regular', 'large'],
  textAnimation: ['typing', 'none'],
}

/** The theme of a form, with a picture of it. */
export const ThemeFields = ({
  theme,
  remarks,
  disabled,
  onChange,
}: {
  theme: JsonObject
  remarks: Remarks
  disabled: boolean
  onChange: (theme: JsonObject) => void
}) => {
  const set = (name: string, value: string | number) => onChange({ ...theme, [name]: value })
  const at = (name: string) => remarksAt(remarks, `form.theme.${name}`)
  return (
    <details class="card">
      <summary>
        {texts.theme.title} <RemarkBadge kind={worstWithin(remarks, 'form.theme')} />
      </summary>
      <div class="columns">
        <div>
          {colors.map((name) => (
            <ColorField
              key={name}
              label={texts.theme.fields[name]}
              value={asText(theme[name])}
              {...at(name)}
              disabled={disabled}
              onInput={(color) => set(name, color)}
            />
          ))}
          <NumberField
            label={texts.theme.fields.buttonRadiusPx}
            value={theme.buttonRadiusPx as number | undefined}
            min={0}
            step="any"
            {...at('buttonRadiusPx')}
            disabled={disabled}
            onInput={(radius) => radius !== undefined && set('buttonRadiusPx', radius)}
          />
          {choices.map((name) => (
            <div key={name}>
              <TextField
                label={texts.theme.fields[name]}
                list={`theme-${name}`}
                value={asText(theme[name])}
                {...at(name)}
                disabled={disabled}
                onInput={(value) => set(name, value)}
              />
              <datalist id={`theme-${name}`}>
                {suggestions[name].map((value) => (
                  <option key={value} value={value} />
                ))}
              </datalist>
            </div>
          ))}
          <RemarkList remarks={remarksElsewhere(remarks, 'form.theme', shown)} />
        </div>
        <ThemePicture theme={theme} />
      </div>
    </details>
  )
}

/** A colour as text, and a picker beside it for those of the form `#rrggbb`. */
const ColorField = ({
  label,
  value,
  disabled,
  onInput,
  ...remarks
}: RemarksAbout<string> & {
  label: string
  value: string
  disabled: boolean
  onInput: (color: string) => void
}) => (
  <div class="color-field">
    <TextField label={label} value={value} disabled={disabled} onInput={onInput} {...remarks} />
    <input
      type="color"
      aria-label={texts.theme.pick(label)}
      value={/^#[0-9a-f]{6}$/i.test(value) ? value : '#000000'}
      disabled={disabled}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  </div>
)

const ThemePicture = ({ theme }: { theme: JsonObject }) => (
  <div class="themed picture" style={themeStyle(theme)} role="img" aria-label={texts.theme.picture}>
    <p class="themed-title">{texts.theme.sampleTitle}</p>
    <p>{texts.theme.sampleText}</p>
    <span class="themed-button">{texts.theme.sampleButton}</span>
  </div>
)
