import { Form, Revision } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import type { ApiError } from '../errors.ts'
import { maskSchemaOf, parseReadMask, type ReadMask } from './read-mask.ts'

const form = maskSchemaOf(Form)

/** The mask as plain objects. */
const plain = (mask: ReadMask): object =>
  Object.fromEntries([...mask].map(([name, inner]) => [name, inner === 'whole' ? true : plain(inner)]))

const violationsOf = (text: string) => {
  try {
    parseReadMask(text, form)
    return []
  } catch (error) {
    return (error as ApiError).parts.fieldViolations!
  }
}

describe('parseReadMask', () => {
  it.each(['', ' \t', '*', ' * ', '*,name', 'name , *'])('%j means all members', (text) => {
    expect(parseReadMask(text, form)).toBeUndefined()
  })

  it.each<[string, object]>([
    ['name', { name: true }],
    ['name,theme.primaryColor,live', { name: true, theme: { primaryColor: true }, live: true }],
    [' name ,\tlive', { name: true, live: true }],
    ['name,name', { name: true }],
    ['theme.textSize,theme.primaryColor', { theme: { textSize: true, primaryColor: true } }],
    ['theme,theme.primaryColor', { theme: true }],
    ['theme.primaryColor,theme', { theme: true }],
    ['steps,context', { steps: true, context: true }],
    ['marketplace.location.city', { marketplace: { location: { city: true } } }],
    ['i18n.translations.pt-BR', { i18n: { translations: { 'pt-BR': true } } }],
    [
      'i18n.translations.de.steps.key_1.title.value',
      { i18n: { translations: { de: { steps: { key_1: { title: { value: true } } } } } } },
    ],
    ['i18n.translations.__proto__', { i18n: { translations: Object.fromEntries([['__proto__', true]]) } }],
  ])('reads %j', (text, expected) => {
    expect(plain(parseReadMask(text, form)!)).toEqual(expected)
  })

  it('reads the members of a form within a revision', () => {
    const readMask = parseReadMask('path,form.theme.primaryColor', maskSchemaOf(Revision))

    expect(plain(readMask!)).toEqual({ path: true, form: { theme: { primaryColor: true } } })
  })

  it.each([
    ['nmae', 'names nmae, which is not a member'],
    ['Name', 'names Name, which is not a member'],
    ['theme.colour', 'names theme.colour, which is not a member'],
    ['name.length', 'names name.length, which is not a member'],
    ['theme.*', 'names theme.*, which is not a member'],
    ['theme.', 'names theme., which is not a member'],
    ['.theme', 'names .theme, which is not a member'],
    ['constructor', 'names constructor, which is not a member'],
    ['__proto__', 'names __proto__, which is not a member'],
    ['name theme', 'names name theme, which is not a member'],
    ['i18n.translations.*', 'names i18n.translations.*, which is not a member'],
    ['i18n.translations.de.title', 'names i18n.translations.de.title, which is not a member'],
    ['steps.key', 'names a part of an array, steps.key: name steps as a whole'],
    ['steps.0', 'names a part of an array, steps.0: name steps as a whole'],
    ['steps[0]', 'names steps[0], which is not a member'],
    [
      'i18n.translations.de.steps.q.options.0',
      'names a part of an array, i18n.translations.de.steps.q.options.0: name i18n.translations.de.steps.q.options as a whole',
    ],
    [',', 'has an empty path'],
    ['name,', 'has an empty path'],
    ['name,,live', 'has an empty path'],
    ['*,nmae', 'names nmae, which is not a member'],
  ])('rejects %j', (text, description) => {
    expect(violationsOf(text)).toEqual([{ field: 'readMask', description }])
  })

  it('has a violation for each invalid path, once', () => {
    const violations = violationsOf('nmae,name,stpes,nmae')

    expect(violations.map(({ description }) => description)).toEqual([
      'names nmae, which is not a member',
      'names stpes, which is not a member',
    ])
  })
})
