import { describe, expect, it } from 'vitest'
import { themeStyle } from './theme-style.ts'

describe('the font of a theme', () => {
  it.each([
    ['mono', 'ui-monospace, monospace'],
    ['Comic Sans MS', '"Comic Sans MS", system-ui, sans-serif'],
    ['', 'system-ui, sans-serif'],
    ['x"; color: red', 'system-ui, sans-serif'],
  ])('%s is %s', (fontFamily, font) => {
    expect(themeStyle({ fontFamily })['--theme-font']).toBe(font)
  })
})
