import { describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, apiKeyPrefix, hashSecret, makeApiKey } from './api-key.ts'

describe('an API key', () => {
  it('is fms_ and 43 random base64url characters', () => {
    const keys = Array.from({ length: 100 }, makeApiKey)

    for (const key of keys) expect(key).toMatch(API_KEY_PATTERN)
    expect(new Set(keys).size).toBe(100)
  })

  it('has the 8 characters after fms_ as its prefix', () => {
    expect(apiKeyPrefix(`fms_abcd-_12${'x'.repeat(35)}`)).toBe('abcd-_12')
  })

  it('is hashed with SHA-256 as a whole', () => {
    // printf 'fms_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' | openssl dgst -sha256 -binary | basenc --base64url
    expect(hashSecret(`fms_${'A'.repeat(43)}`)).toBe('cTeLLkLortOy6ciaeSNob4OjTvVqZYM9RPMq7PaUILQ')
  })
})
