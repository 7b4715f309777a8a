import type { Background, Step } from '@fms/client'
import { describe, expect, it } from 'vitest'
import { backgroundOf } from './background.tsx'

const background = (fields: Partial<Background>): Background => ({
  type: 'image',
  url: 'https://images.example.com/a.png',
  position: 'left-half',
  overlayOpacity: 0.5,
  ...fields,
})
const stepWith = (own?: Background): Step => ({ type: 'text', key: 'q', ...(own && { background: own }) })

describe('the background of a step', () => {
  it('is its own, or else the first one of the form', () => {
    const form = { backgrounds: [background({ url: 'https://images.example.com/b.png' }), background({})] }

    expect(backgroundOf(form, stepWith(background({})))).toMatchObject({
      url: 'https://images.example.com/a.png',
      position: 'left-half',
      overlayOpacity: 0.5,
    })
    expect(backgroundOf(form, stepWith())).toMatchObject({ url: 'https://images.example.com/b.png' })
    expect(backgroundOf({ backgrounds: [] }, stepWith())).toBeUndefined()
  })

  it.each([
    [{ type: 'video' }, undefined],
    [{ url: '' }, undefined],
    [{ position: 'right-half' }, 'right-half'],
    [{ position: 'cover' }, 'behind'],
  ])('with %j is %s', (fields, position) => {
    expect(backgroundOf({ backgrounds: [] }, stepWith(background(fields)))?.position).toBe(position)
  })
})
