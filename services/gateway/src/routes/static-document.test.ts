import { describe, expect, it } from 'vitest'
import { once } from './static-document.ts'

describe('once', () => {
  it('makes again what could not be made, and nothing twice', async () => {
    const outcomes = [() => Promise.reject(new Error('EMFILE')), async () => 'first', async () => 'second']
    const made = once(() => outcomes.shift()!())

    await expect(Promise.all([made(), made()])).rejects.toThrow('EMFILE')
    expect(await Promise.all([made(), made()])).toEqual(['first', 'first'])
  })
})
