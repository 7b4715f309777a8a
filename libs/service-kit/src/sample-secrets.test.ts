import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findSampleSecrets } from './sample-secrets.ts'

describe('findSampleSecrets', () => {
  it('finds every secret of .env.example', () => {
    const example = parseEnv(readFileSync(join(import.meta.dirname, '../../../.env.example'), 'utf8'))
    const secrets = Object.keys(example).filter((name) => /(SECRET|PASSWORD|KEY)$/.test(name))

    expect(secrets.length).toBeGreaterThan(8)
    expect(findSampleSecrets(example, Object.keys(example))).toEqual(secrets)
  })

  it.each([
    'sample',
    'sample-with-a-suffix',
    'mongodb://forms:sample@mongo:27017/forms?authSource=admin',
    'nats://forms:secret@one:4222,nats://forms:sample@two:4222',
  ])('finds %s, except in development', (value) => {
    expect(findSampleSecrets({ A: 'fresh', B: value }, ['A', 'B', 'C'])).toEqual(['B'])
    expect(findSampleSecrets({ B: value, NODE_ENV: 'development' }, ['B'])).toEqual([])
  })

  it.each([
    '',
    'a-sample',
    'mongodb://mongo:27017/sample',
    'mongodb://forms:secret@sample:27017/sample',
    'sqlite:sample.db',
  ])('accepts %j', (value) => {
    expect(findSampleSecrets({ B: value }, ['B'])).toEqual([])
  })
})
