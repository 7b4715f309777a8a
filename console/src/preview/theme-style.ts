import { asText, type JsonObject } from '../json/values.ts'

const fonts: Record<string, string> = {
  sans: 'system-ui, sans-serif',
  serif: 'Georgia, serif',
  mono: 'ui-monospace, monospace',
}
const sizes: Record<string, string> = { small: '0.875rem', regular: '1rem', large: '1.25rem' }

/** The custom properties that the style sheet draws a theme with. Unknown values count as the default ones. */
export const themeStyle = (theme: JsonObject): Record<string, string> => ({
  '--theme-background': asText(theme.backgroundColor),
  '--theme-foreground': asText(theme.foregroundColor),
  '--theme-primary': asText(theme.primaryColor),
  '--theme-button-text': asText(theme.buttonTextColor),
  '--theme-radius': `${Number(theme.buttonRadiusPx) || 0}px`,
  '--theme-font': fonts[asText(theme.fontFamily)] ?? fonts.sans!,
  '--theme-size': sizes[asText(theme.textSize)] ?? sizes.regular!,
  '--theme-button-size': sizes[asText(theme.buttonSize)] ?? sizes.regular!,
})
