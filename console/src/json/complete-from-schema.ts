import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { SyntaxNode } from '@lezer/common'
import { nameOf, pathOf, type Slice } from './positions.ts'
import { type JsonSchema, schemasAt } from './schema-at.ts'

/** Completes names of members and values, from a JSON Schema. */
export const completeFromSchema =
  (schema: JsonSchema): CompletionSource =>
  (context) => {
    const word = context.matchBefore(/"?[\w-]*/)!
    if (word.from === word.to && !context.explicit) return null
    const slice: Slice = (from, to) => context.state.sliceDoc(from, to)
    const before = slice(Math.max(0, word.from - 500), word.from).trimEnd()
    const container = containerAt(context)
    if (container === undefined) return null
    const path = pathOf(container, slice)
    const name = /"((?:[^"\\]|\\.)*)"\s*:$/.exec(before)?.[1]
    // A closing quote after the cursor belongs to the word.
    const to = slice(context.pos, context.pos + 1) === '"' ? context.pos + 1 : context.pos
    if (container.name === 'Object' && name === undefined)
      return /[{,]$/.test(before)
        ? { from: word.from, to, options: members(schemasAt(schema, path), container, slice) }
        : null
    const valuePath = container.name === 'Object' ? [...path, name!] : [...path, 0]
    return { from: word.from, to, options: values(schemasAt(schema, valuePath)) }
  }

const containerAt = ({ state, pos }: CompletionContext): SyntaxNode | undefined => {
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(pos, -1)
  while (node && node.name !== 'Object' && node.name !== 'Array') node = node.parent
  return node ?? undefined
}

const members = (schemas: JsonSchema[], object: SyntaxNode, slice: Slice): Completion[] => {
  const present = new Set(object.getChildren('Property').map((property) => nameOf(property, slice)))
  const properties = new Map(schemas.flatMap((schema) => Object.entries(schema.properties ?? {})))
  return [...properties]
    .filter(([name]) => !present.has(name))
    .map(([name, { description }]) => ({
      label: `"${name}"`,
      apply: `"${name}": `,
      type: 'property',
      ...(description && { info: description }),
    }))
}

const values = (schemas: JsonSchema[]): Completion[] => {
  const literals = schemas.flatMap((schema) => [
    ...(schema.enum ?? []),
    ...('const' in schema ? [schema.const] : []),
    ...('default' in schema ? [schema.default] : []),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ])
  return [...new Set(literals.map((literal) => JSON.stringify(literal)))].map((label) => ({
    label,
    type: 'constant',
  }))
}
