import { describe, expect, it } from 'vitest'
import { CollectorUrl, NatsUrl, ServiceOrigin, StoreUrl } from './config-urls.ts'

describe('ServiceOrigin', () => {
  it.each(['ftp://forms:8080', 'http://forms:8080/v2', 'forms:8080', 'forms'])('rejects %s', (url) => {
    expect(ServiceOrigin.safeParse(url).error?.message).toContain('must be http://host:port')
  })
})

describe('CollectorUrl', () => {
  it('accepts a path', () => {
    expect(CollectorUrl.parse('https://collector.example/otlp')).toBe('https://collector.example/otlp')
  })

  it.each(['collector', 'collector:4318', 'grpc://collector:4317'])('rejects %s', (url) => {
    expect(CollectorUrl.safeParse(url).error?.message).toContain('must be a URL such as http://host:4318')
  })
})

describe('NatsUrl', () => {
  it.each([
    'nats://127.0.0.1:4222',
    'nats://forms:p%40ss@nats:4222',
    'nats://forms:secret@a:4222, nats://forms:secret@b:4222',
    'tls://forms:secret@nats:4222',
  ])('accepts %s', (url) => {
    expect(NatsUrl.parse(url)).toBe(url)
  })

  it.each([
    'nats',
    'nats:4222',
    '127.0.0.1:4222',
    'http://forms:secret@nats:4222',
    'nats://forms:secret@',
    'nats://forms:%zzsecret@nats:4222',
    'nats://a:4222,',
  ])('rejects %s, and does not repeat it', (url) => {
    const { message } = NatsUrl.safeParse(url).error!
    expect(message).toContain('must be nats://user:password@host:port')
    expect(message).not.toContain('secret')
  })
})

describe('StoreUrl', () => {
  it.each([
    'sqlite:.data/forms.db',
    'mongodb://forms:secret@a:27017,b:27017/forms?replicaSet=rs0&authSource=admin',
    'mongodb+srv://forms:secret@cluster.example/forms',
  ])('accepts %s', (url) => {
    expect(StoreUrl.parse(url)).toBe(url)
  })

  // SQLite takes an empty path for a temporary database, which ends with the process.
  it.each([
    'sqlite:',
    '.data/forms.db',
    'postgres://u:secret@host/forms',
    'mongodb://u:secret@host',
    'mongodb://u:secret@host/?w=1',
  ])('rejects %s, and does not repeat it', (url) => {
    const { message } = StoreUrl.safeParse(url).error!
    expect(message).toContain('must be sqlite:PATH or mongodb://host:port/database')
    expect(message).not.toContain('secret')
  })
})
