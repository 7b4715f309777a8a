import { describe, expect, it } from 'vitest'
import { textOfTitle } from '../elements/title.tsx'
import { wordsOfChange } from '../publish/change-words.ts'
import { changesBetween } from './changes-between.ts'

const step = (key: string, more: object = {}) => ({
  type: 'text' as const,
  key,
  title: key.toUpperCase(),
  ...more,
})

describe('changes between two states of the fields', () => {
  it('have the path with the keys of steps, and both values', () => {
    const from = { name: 'A', tone: 'x', theme: { size: 1 }, steps: [step('a'), step('b')] }
    const to = {
      name: 'A',
      theme: { size: 2 },
      context: ['c'],
      steps: [step('new'), step('b', { title: 'Other' })],
    }

    expect(changesBetween(from, to)).toEqual([
      { kind: 'REMOVED', field: 'tone', fromPointer: '/tone', before: 'x' },
      {
        kind: 'CHANGED',
        field: 'theme.size',
        fromPointer: '/theme/size',
        toPointer: '/theme/size',
        before: 1,
        after: 2,
      },
      { kind: 'REMOVED', field: 'steps[a]', fromPointer: '/steps/0', before: step('a') },
      {
        kind: 'CHANGED',
        field: 'steps[b].title',
        fromPointer: '/steps/1/title',
        toPointer: '/steps/1/title',
        before: 'B',
        after: 'Other',
      },
      { kind: 'ADDED', field: 'steps[new]', toPointer: '/steps/0', after: step('new') },
      { kind: 'ADDED', field: 'context', toPointer: '/context', after: ['c'] },
    ])
  })

  it('lead to the name of their step', () => {
    const from = { steps: [step('a'), step('b')] }
    const to = { steps: [step('b', { 'x/y': 1 })] }
    const words = changesBetween(from, to).map((change) =>
      textOfTitle(wordsOfChange(change, { from: from.steps, to: to.steps })),
    )

    expect(words).toEqual(['Question A removed', 'X/y of B added'])
  })

  it('have one change for another order of elements, but no change of order for an added element', () => {
    const order = (...keys: string[]) => ({ steps: keys.map((key) => step(key)) })

    expect(changesBetween(order('a', 'b', 'c'), order('c', 'a', 'b'))).toEqual([
      { kind: 'MOVED', field: 'steps', before: 'a, b, c', after: 'c, a, b' },
    ])
    expect(changesBetween(order('a', 'b'), order('a', 'n', 'b')).map(({ field }) => field)).toEqual([
      'steps[n]',
    ])
  })

  it('compare lists without unique keys as a whole', () => {
    const [before, after] = [[step('a'), step('a')], [step('a')]]

    expect(changesBetween({ steps: before }, { steps: after })).toMatchObject([
      { kind: 'CHANGED', field: 'steps', before, after },
    ])
    expect(changesBetween({ steps: before }, { steps: [...before] })).toEqual([])
  })
})
