import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startGateway } from '../testing.ts'
import { markdownPages } from './markdown-docs.ts'

const withoutKey = { as: '' }

describe('GET /llms.txt', () => {
  it('lists documents that are there, without a key', async () => {
    await using gateway = await startGateway()

    const { status, headers, text } = await gateway.send('GET', '/llms.txt', withoutKey)

    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!)
    expect(links.length).toBe(3 + Object.keys(markdownPages).length)
    for (const link of links) {
      expect([link, (await gateway.send('GET', `/${link}`, withoutKey)).status]).toEqual([link, 200])
    }
  })

  it('has every guide', () => {
    const guides = globSync('guides/*.md', { cwd: join(import.meta.dirname, '../../../../docs') })

    expect(Object.keys(markdownPages)).toEqual(expect.arrayContaining(guides))
  })
})

describe('GET /v2/docs/{page}', () => {
  it('returns a page as Markdown', async () => {
    await using gateway = await startGateway()

    const { headers, text } = await gateway.send('GET', '/v2/docs/api.md', withoutKey)

    expect(headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(text).toMatch(/^# API reference\n/)
  })

  it.each(['guides/none.md', 'architecture.md', '..%2FREADME.md', 'guides/..%2f..%2fpackage.json'])(
    'needs a key for other paths, and has nothing there: %s',
    async (name) => {
      await using gateway = await startGateway()

      expect((await gateway.send('GET', `/v2/docs/${name}`, withoutKey)).status).toBe(401)
      expect((await gateway.send('GET', `/v2/docs/${name}`)).status).toBe(404)
    },
  )
})
