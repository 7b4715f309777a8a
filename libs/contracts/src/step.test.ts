import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { furtherMembersArbitrary } from './form.arbitrary.ts'
import { Background, Step } from './step.ts'

const takes = (step: unknown) => Step.safeParse(step).success

describe('a start step', () => {
  it('has all of its members, and a background only if given', () => {
    expect(Step.parse({ type: 'start', key: 's' })).toStrictEqual({
      type: 'start',
      key: 's',
      title: '',
      description: '',
      buttonText: '',
      logoUrl: '',
      redirectUrl: '',
      branches: [],
    })
    expect(Step.parse({ type: 'start', key: 's', background: { type: 'video', url: '' } })).toMatchObject({
      background: { type: 'video', url: '', overlayOpacity: 0, position: 'left-half' },
    })
  })

  it.each([
    { required: true },
    { title: 1 },
    { logoUrl: 'logo.svg' },
    { background: {} },
    { background: null },
  ])('refuses %j', (members) => {
    expect(takes({ type: 'start', key: 's', ...members })).toBe(false)
  })
})

describe.each(['end', 'text', 'payment', 'Start'])('a step of type %s', (type) => {
  it('stores unknown members of any value as sent', () => {
    fc.assert(
      fc.property(furtherMembersArbitrary, (further) => {
        expect(Step.parse({ type, key: 'q1', ...further })).toEqual({ type, key: 'q1', ...further })
      }),
    )
  })

  it('requires none of the members of a start step', () => {
    expect(Step.parse({ type, key: 'q1' })).toStrictEqual({ type, key: 'q1' })
  })

  it('fills in the defaults of a given background and given branches', () => {
    const condition = { stepKey: 'gone', operator: 'equals' }
    const branches = [{ targetStepKey: 'gone' }, { targetStepKey: '', groups: [[], [condition]] }]

    expect(Step.parse({ type, key: 'q1', background: { type: 'image', url: '' }, branches })).toMatchObject({
      background: { overlayOpacity: 0, position: 'left-half' },
      branches: [
        { targetStepKey: 'gone', groups: [] },
        { targetStepKey: '', groups: [[], [{ ...condition, negate: false, value: '' }]] },
      ],
    })
  })

  it.each([
    { title: 1 },
    { redirectUrl: 'example.com' },
    { background: { type: 'image' } },
    { branches: [{}] },
    { branches: [{ targetStepKey: 'a', groups: [[{ stepKey: 'b' }]] }] },
    { branches: [{ targetStepKey: 'a', groups: [[{ stepKey: 'b', operator: '' }]] }] },
    { branches: [{ targetStepKey: 'a', weight: 1 }] },
  ])('refuses %j', (members) => {
    expect(takes({ type, key: 'q1', ...members })).toBe(false)
  })
})

describe('a key', () => {
  it.each(['a', '0', '_', '-', 'Q1-b_c', 'x'.repeat(64)])('may be %s', (key) => {
    expect(takes({ type: 'text', key })).toBe(true)
    expect(takes({ type: 'start', key })).toBe(true)
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a.b', 'ä', 'a\n', '😀', 1, null, undefined])(
    'may not be %j',
    (key) => {
      expect(takes({ type: 'text', key })).toBe(false)
      expect(takes({ type: 'start', key })).toBe(false)
    },
  )
})

describe('a type', () => {
  it.each(['x', '😀'.repeat(64), ' ', 'START'])('may be %s', (type) => {
    expect(takes({ type, key: 'q1' })).toBe(true)
  })

  it.each(['', 'x'.repeat(65), 1, null, undefined])('may not be %j', (type) => {
    expect(takes({ type, key: 'q1' })).toBe(false)
  })
})

describe('a background', () => {
  const background = {
    type: 'image',
    url: 'https://example.com/a.png',
    overlayOpacity: 0.5,
    position: 'full',
  }

  it.each([0, 0.001, 1])('may have the opacity %s', (overlayOpacity) => {
    expect(Background.parse({ ...background, overlayOpacity })).toEqual({ ...background, overlayOpacity })
  })

  it.each([
    { overlayOpacity: -0.001 },
    { overlayOpacity: 1.001 },
    { overlayOpacity: '0' },
    { type: undefined },
    { type: '' },
    { url: undefined },
    { url: '/a.png' },
    { position: '' },
    { alt: '' },
  ])('refuses %j', (members) => {
    expect(Background.safeParse({ ...background, ...members }).success).toBe(false)
  })
})
