import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway } from '../testing.ts'

const get = async (query: string) => {
  await using gateway = await startGateway()
  return await gateway.send('GET', `/v2/openapi.json${query}`, { as: '' })
}

describe('GET /v2/openapi.json', () => {
  it('returns the whole document, also as view=full', async () => {
    const document = await get('')

    expect(document.json().openapi).toBe('3.1.1')
    expect((await get('?view=full')).text).toBe(document.text)
  })

  it('returns ten operations in at most 60 KB as view=essential', async () => {
    const { text } = await get('?view=essential')

    expect(text.match(/"operationId":/g)).toHaveLength(10)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000)
  })

  it.each(['?view=small', '?view=', '?view=full&view=essential'])(
    'rejects %s, and says what there is',
    async (query) => {
      const response = await get(query)

      expect([response.status, reasonOf(response)]).toEqual([400, 'INVALID_REQUEST'])
      expect(response.json().error.message).toContain('view must be full or essential')
    },
  )
})
