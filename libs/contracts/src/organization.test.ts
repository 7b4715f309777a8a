import { describe, expect, it } from 'vitest'
import { OrganizationName, OrganizationSlug } from './organization.ts'
import { isUuid, Uuid } from './resource-names.ts'

describe('a UUID', () => {
  it.each([
    '00000000-0000-0000-0000-000000000000',
    '0191D2B4-7C3E-7A61-8F02-3D5E6F708192',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('%s, in lower case once parsed', (uuid) => {
    expect(isUuid(uuid)).toBe(true)
    expect(Uuid.parse(uuid)).toBe(uuid.toLowerCase())
  })

  it.each([
    '',
    '0191d2b47c3e7a618f023d5e6f708192',
    '{0191d2b4-7c3e-7a61-8f02-3d5e6f708192}',
    '0191d2b4-7c3e-7a61-8f02-3d5e6f708192\n',
    'g191d2b4-7c3e-7a61-8f02-3d5e6f708192',
  ])('not %j', (text) => {
    expect(isUuid(text)).toBe(false)
    expect(Uuid.safeParse(text).success).toBe(false)
  })
})

describe('a slug', () => {
  it.each(['abc', 'a-b', '123', 'new-york', 'a'.repeat(48)])('%s', (slug) => {
    expect(OrganizationSlug.parse(slug)).toBe(slug)
  })

  it.each([
    'ab',
    'a'.repeat(49),
    'Abc',
    'a_b',
    'äbc',
    '-ab',
    'ab-',
    'a--b',
    'abc\n',
    'new',
    'settings',
    'checkout',
    'forms',
    'oauth',
    '0191d2b4-7c3e-7a61-8f02-3d5e6f708192',
  ])('not %j', (slug) => {
    expect(OrganizationSlug.safeParse(slug).success).toBe(false)
  })
})

it('accepts an organization name of 1 to 80 code points', () => {
  expect(OrganizationName.safeParse('😀'.repeat(80)).success).toBe(true)
  expect(OrganizationName.safeParse('😀'.repeat(81)).success).toBe(false)
  expect(OrganizationName.safeParse('').success).toBe(false)
})
