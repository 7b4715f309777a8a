import type { SyntaxNode } from '@lezer/common'
import type { JsonPath } from './schema-at.ts'

/** Reads a part of the document. */
export type Slice = (from: number, to: number) => string

const valueNames = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'])

/** The node of the value at a path in a JSON syntax tree; the closest one around it if there is none. */
export const nodeAt = (top: SyntaxNode, path: readonly string[], slice: Slice): SyntaxNode => {
  let node = valuesIn(top).next().value ?? top
  for (const part of path) {
    const next = node.name === 'Array' ? elementOf(node, Number(part)) : memberOf(node, part, slice)
    if (next === undefined) break
    node = next
  }
  return node
}

export const pathOf = (node: SyntaxNode, slice: Slice): JsonPath => {
  const path: (string | number)[] = []
  for (let each: SyntaxNode | null = node; each?.parent; each = each.parent) {
    if (each.name === 'Property') path.unshift(nameOf(each, slice))
    else if (each.parent.name === 'Array') path.unshift(indexIn(each.parent, each))
  }
  return path
}

export const nameOf = (property: SyntaxNode, slice: Slice): string => {
  const name = property.getChild('PropertyName')
  return name ? textOf(slice(name.from, name.to)) : ''
}

const textOf = (literal: string): string => {
  try {
    return JSON.parse(literal)
  } catch {
    return literal.replaceAll('"', '')
  }
}

function* valuesIn(node: SyntaxNode): Generator<SyntaxNode, undefined> {
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (valueNames.has(child.name)) yield child
}

const elementOf = (array: SyntaxNode, index: number): SyntaxNode | undefined => {
  let left = index
  for (const value of valuesIn(array)) if (left-- === 0) return value
  return undefined
}

const memberOf = (object: SyntaxNode, name: string, slice: Slice): SyntaxNode | undefined =>
  object
    .getChildren('Property')
    .filter((property) => nameOf(property, slice) === name)
    .map((property) => property.lastChild!)
    .at(-1)

const indexIn = (array: SyntaxNode, element: SyntaxNode): number => {
  let index = 0
  for (const value of valuesIn(array)) {
    if (value.from >= element.from) break
    index++
  }
  return index
}
