import { NumberField, SelectField, TextField } from '../../elements/field.tsx'
import type { RemarksAbout } from '../../elements/remark-texts.tsx'
import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'

/** The positions that the preview tells apart. Any other text is one of those behind the whole screen. */
const positions = ['whole', 'left-half', 'right-half']

/** The fields of the image behind or beside a step. */
export const BackgroundField = ({
  background,
  disabled,
  onChange,
  ...remarks
}: RemarksAbout<string> & {
  background: JsonObject
  disabled: boolean
  /** @param background undefined if there is no image */
  onChange: (background: JsonObject | undefined) => void
}) => {
  const { url, position, overlayOpacity } = background
  const labels = texts.step.background
  const set = (changes: JsonObject) => onChange({ ...background, ...changes })
  return (
    <>
      <TextField
        label={labels.url}
        value={asText(url)}
        {...remarks}
        disabled={disabled}
        onInput={(next) =>
          next === '' ? onChange(undefined) : set({ type: 'image', position: position ?? 'whole', url: next })
        }
      />
      {url !== undefined && (
        <>
          <SelectField
            label={labels.position}
            value={asText(position)}
            options={[...new Set([...positions, asText(position)])]}
            labels={labels.positions}
            disabled={disabled}
            onInput={(next) => set({ position: next })}
          />
          <NumberField
            label={labels.overlayOpacity}
            hint={labels.overlayHint}
            value={typeof overlayOpacity === 'number' ? overlayOpacity : undefined}
            min={0}
            max={1}
            step="any"
            disabled={disabled}
            onInput={(next) => set({ overlayOpacity: next ?? 0 })}
          />
        </>
      )}
    </>
  )
}
