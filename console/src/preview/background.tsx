import type { Step } from '@fms/client'
import { asObject, asText } from '../json/values.ts'
import type { PreviewedForm } from './as-form.ts'
import { FormImage } from './form-image.tsx'

/** The image of a step, and where it is. */
export interface StepBackground {
  url: string
  /** Half of the screen; any other position counts as behind the whole of it. */
  position: 'left-half' | 'right-half' | 'behind'
  /** How opaque the colour of the theme lies over the image: 0 to 1. */
  overlayOpacity: number
}

/** The background of a step: its own, or else the first one of the form. */
export const backgroundOf = (
  { backgrounds }: Pick<PreviewedForm, 'backgrounds'>,
  step: Step,
): StepBackground | undefined => {
  const own = 'background' in step ? step.background : undefined
  const { type, url, position, overlayOpacity } = asObject(own ?? backgrounds[0])
  if (type !== 'image' || !asText(url)) return undefined
  return {
    url: asText(url),
    position: position === 'left-half' || position === 'right-half' ? position : 'behind',
    overlayOpacity: Number(overlayOpacity) || 0,
  }
}

/** @param onMissing the image cannot be loaded */
export const Background = ({
  url,
  overlayOpacity,
  onMissing,
}: StepBackground & { onMissing: () => void }) => (
  <div class="background">
    <FormImage url={url} onMissing={onMissing} />
    <div class="overlay" style={{ opacity: overlayOpacity }} />
  </div>
)
