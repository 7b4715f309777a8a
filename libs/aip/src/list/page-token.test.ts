import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPageTokens } from './page-token.ts'

const scope = JSON.stringify(['organizations/o/forms', 'name = "a"', 'createTime desc'])
const position = ['2026-11-20T09:30:00.000Z', 'a1B2c3D4e5']
const tokens = createPageTokens(['secret'])

const refused = expect.objectContaining({
  status: 'INVALID_ARGUMENT',
  reason: 'INVALID_PAGE_TOKEN',
  message: expect.stringContaining('Start over from the first page'),
})

describe('page tokens', () => {
  it('open to the position they were sealed with', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.array(fc.jsonValue()), (anyScope, json) => {
        const sealed = JSON.parse(JSON.stringify(json))
        const token = tokens.seal(anyScope, sealed)
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(tokens.open(anyScope, token)).toEqual(sealed)
      }),
    )
  })

  it('stay valid after a restart', () => {
    expect(createPageTokens(['secret']).open(scope, tokens.seal(scope, position))).toEqual(position)
  })

  it('do not reveal the position', () => {
    const token = tokens.seal(scope, position)
    expect(Buffer.from(token, 'base64url').includes('a1B2c3D4e5')).toBe(false)
    expect(createPageTokens(['secret']).seal(scope, position)).not.toBe(token)
  })

  it('are cached for a scope and position, and never use a nonce twice', () => {
    // More positions than the cache holds.
    const scopes = Array.from({ length: 3_000 }, (_, index) => JSON.stringify(['forms', index]))
    const sealAll = () => scopes.map((each) => tokens.seal(each, position))
    const nonceOf = (token: string) => Buffer.from(token, 'base64url').toString('hex', 1, 13)

    const first = sealAll()
    const lately = scopes.slice(-100).map((each) => tokens.seal(each, position))
    const later = sealAll()

    expect(lately).toEqual(first.slice(-100))
    expect(later).not.toContain(first[0])
    const all = new Set([...first, ...later])
    expect(new Set([...all].map(nonceOf)).size).toBe(all.size)
    expect(scopes.map((each, index) => tokens.open(each, later[index]!))).toEqual(scopes.map(() => position))
  })

  it('are valid only for their own scope', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (sealed, opened) => {
        fc.pre(sealed !== opened)
        expect(() => tokens.open(opened, tokens.seal(sealed, position))).toThrow(refused)
      }),
    )
  })

  it('are rejected after a change of any single bit', () => {
    const bytes = Buffer.from(tokens.seal(scope, position), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = Buffer.from(bytes)
      forged[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => tokens.open(scope, forged.toString('base64url'))).toThrow(refused)
    }
  })

  it('are rejected when shortened at either end, or extended', () => {
    const token = tokens.seal(scope, position)
    for (let length = 0; length < token.length; length++) {
      expect(() => tokens.open(scope, token.slice(0, length))).toThrow(refused)
      expect(() => tokens.open(scope, token.slice(token.length - length))).toThrow(refused)
    }
    expect(() => tokens.open(scope, `${token}AAAA`)).toThrow(refused)
  })

  it('are rejected in any other base64url spelling of the same bytes', () => {
    // 1 + 12 + n + 16 bytes: n = 3 leaves two spare bits in the last character, n = 4 none.
    const [spare, full] = [tokens.seal(scope, ['']), tokens.seal(scope, [1])]
    for (const token of [spare, full]) {
      const bytes = Buffer.from(token, 'base64url')
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const spellings = [
        `${token}=`,
        ` ${token}`,
        `${token}\n`,
        `${token.slice(0, 9)}.${token.slice(9)}`,
        ...[...alphabet].map((last) => token.slice(0, -1) + last),
      ].filter((spelling) => spelling !== token)
      for (const spelling of spellings) expect(() => tokens.open(scope, spelling)).toThrow(refused)
      expect(tokens.open(scope, bytes.toString('base64url'))).toHaveLength(1)
    }
  })

  it('are rejected for any other text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ minLength: 40 })), (text) => {
        expect(() => tokens.open(scope, text)).toThrow(refused)
      }),
    )
  })

  it('stay valid after a rotation of the secret, as long as the old secret is configured', () => {
    const old = tokens.seal(scope, position)
    const rotated = createPageTokens(['new secret', 'secret'])
    expect(rotated.open(scope, old)).toEqual(position)
    expect(createPageTokens(['new secret']).open(scope, rotated.seal(scope, position))).toEqual(position)
    expect(() => createPageTokens(['new secret']).open(scope, old)).toThrow(refused)
  })

  it('need a secret', () => {
    expect(() => createPageTokens([])).toThrow('at least one secret')
  })
})
