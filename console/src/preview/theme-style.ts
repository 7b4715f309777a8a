import { asText, type JsonObject } from '../json/values.ts'

const fonts: Record<string, string> = {
  sans: 'system-ui, sans-serif',
  serif: 'Georgia, serif',
  mono: 'ui-monospace, monospace',
}
/** A name that is not in {@link fonts} is that of a font which the device may have. Nothing is loaded. */
const fontOf = (name: string): string => {
  if (Object.hasOwn(fonts, name)) return fonts[name]!
  return /^[\w -]+$/.test(name) ? `"${name}", ${fonts.sans}` : fonts.sans!
}

const sizes: Record<string, string> = { small: '0.875rem', regular: '1rem', large: '1.25rem' }

/** The custom properties that the style sheet draws a theme with. Unknown sizes count as the default ones. */
export const themeStyle = (theme: JsonObject): Record<string, string> => ({
  '--theme-background': asText(theme.backgroundColor),
  '--theme-foreground': asText(theme.foregroundColor),
  '--theme-primary': asText(theme.primaryColor),
  '--theme-button-text': asText(theme.buttonTextColor),
  '--theme-radius': `${Number(theme.buttonRadiusPx) || 0}px`,
  '--theme-font': fontOf(asText(theme.fontFamily)),
  '--theme-size': sizes[asText(theme.textSize)] ?? sizes.regular!,
  '--theme-button-size': sizes[asText(theme.buttonSize)] ?? sizes.regular!,
})
