import { CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { json, jsonLanguage } from '@codemirror/lang-json'
import { ensureSyntaxTree } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { completeFromSchema } from './complete-from-schema.ts'
import { namesInField } from './field-path.ts'
import { nodeAt } from './positions.ts'
import type { JsonSchema } from './schema-at.ts'

describe('the place of a violation', () => {
  const text = '{"name": "Tea", "steps": [{"key": "q"}, {"key": "r", "a b": [1]}], "name": "Twice"}'
  const placeOf = (field: string) => {
    const slice = (from: number, to: number) => text.slice(from, to)
    const { from, to } = nodeAt(jsonLanguage.parser.parse(text).topNode, namesInField(field), slice)
    return text.slice(from, to)
  }

  it.each([
    ['form.steps[1].key', '"r"'],
    ['form.steps[0]', '{"key": "q"}'],
    ['form.steps[1].a b[0]', '1'],
    ['form.name', '"Twice"'],
  ])('%s is its value: %s', (field, value) => {
    expect(placeOf(field)).toBe(value)
  })

  it('is the closest value around it if it is not there', () => {
    expect(placeOf('form.steps[0].title')).toBe('{"key": "q"}')
    expect(placeOf('form.tone')).toBe(text)
    expect(placeOf('form')).toBe(text)
  })
})

describe('the completion', () => {
  const schema: JsonSchema = {
    properties: {
      mode: { enum: ['guided', 'voice'] },
      voice: { $ref: '#/$defs/Toggle' },
      steps: { items: { anyOf: [{ properties: { key: {} } }, { properties: { title: {} } }] } },
      byLocale: { additionalProperties: { $ref: '#/$defs/Toggle' } },
    },
    $defs: { Toggle: { properties: { enabled: { type: 'boolean', default: false } } } },
  }
  /** The labels that are offered at `|`. */
  const offeredAt = (marked: string): string[] => {
    const created = EditorState.create({ doc: marked.replace('|', ''), extensions: [json()] })
    // The first parse has 20 ms, which a busy machine may use up before the end of the text.
    ensureSyntaxTree(created, created.doc.length, 10_000)
    const { state } = created.update({})
    const context = new CompletionContext(state, marked.indexOf('|'), true)
    const result = completeFromSchema(schema)(context) as CompletionResult | null
    return result?.options.map(({ label }) => label) ?? []
  }

  it.each<[string, string[]]>([
    ['{"mode": "voice", "|"}', ['"voice"', '"steps"', '"byLocale"']],
    ['{"mode": |}', ['"guided"', '"voice"']],
    ['{"voice": {"enabled": |}}', ['false', 'true']],
    ['{"voice": {|}}', ['"enabled"']],
    ['{"steps": [{"key": "q"}, {"|"}]}', ['"key"', '"title"']],
    ['{"byLocale": {"de": {"|"}}}', ['"enabled"']],
    ['{"unknown": {"|"}}', []],
  ])('offers at %s: %j', (marked, labels) => {
    expect(offeredAt(marked)).toEqual(labels)
  })
})
