import { describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, apiKeyPrefix, hashApiKey, makeApiKey } from './api-key.ts'

describe('an API key', () => {
  it('is fms_ and 43 base64url characters, another one every time', () => {
    const keys = Array.from({ length: 100 }, makeApiKey)

    for (const key of keys) expect(key).toMatch(API_KEY_PATTERN)
    expect(new Set(keys).size).toBe(100)
  })

  it('is known by the 8 characters after fms_', () => {
    expect(apiKeyPrefix(`fms_abcd-_12${'x'.repeat(35)}`)).toBe('abcd-_12')
  })

  it('is stored as the SHA-256 of its whole text', () => {
    // printf 'fms_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' | openssl dgst -sha256 -binary | basenc --base64url
    expect(hashApiKey(`fms_${'A'.repeat(43)}`)).toBe('cTeLLkLortOy6ciaeSNob4OjTvVqZYM9RPMq7PaUILQ')
  })
})
