import type { Client } from '@fms/client'
import { describe, expect, it } from 'vitest'
import type { FormsQuery } from './form-filter.ts'
import { pageSize, readForms } from './read-forms.ts'

const all: FormsQuery = { search: '', type: 'any', live: 'any', orderBy: 'name' }
const { signal } = new AbortController()

interface Request {
  pageSize: number
  pageToken?: string
  signal: AbortSignal
}

/** A list of forms whose names are numbers, every third one live. @param respond may fail a request instead */
const listOf = (size: number, respond: (request: Request) => void = () => {}, query = all) => {
  const requests: Request[] = []
  const readPage = (request: Request) => {
    requests.push(request)
    respond(request)
    const start = Number(request.pageToken ?? 0)
    const end = Math.min(start + request.pageSize, size)
    const items = Array.from({ length: end - start }, (_, index) => ({
      name: String(start + index),
      live: (start + index) % 3 === 0,
    }))
    return { items, nextPageToken: end < size ? String(end) : '', totalSize: size }
  }
  const list = (_: string, request: Request) => ({
    async *pages() {
      yield readPage(request)
    },
  })
  return { read: readForms({ forms: { list } } as unknown as Client, 'acme', query), requests }
}

const names = ({ forms }: { forms: { name: string }[] }) => forms.map(({ name }) => Number(name))

describe('the pages of a list of forms', () => {
  it('are requested once each', async () => {
    const { read, requests } = listOf(60)

    expect(await read(0, signal)).toMatchObject({ number: 0, totalSize: 60, hasNext: true })
    expect(names(await read(2, signal))).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58, 59])
    expect(names(await read(1, signal))[0]).toBe(25)
    expect((await read(2, signal)).hasNext).toBe(false)
    expect(requests).toHaveLength(3)
  })

  it('continue after a request that failed', async () => {
    let isDown = false
    const { read } = listOf(60, () => {
      if (isDown) throw new TypeError('connection refused')
    })
    await read(0, signal)
    isDown = true
    await expect(read(1, signal)).rejects.toThrow()
    isDown = false

    expect(names(await read(1, signal))[0]).toBe(25)
  })

  it('are complete after a reading that was aborted while the response arrived', async () => {
    const abort = new AbortController()
    const { read } = listOf(60, () => abort.abort())
    await expect(read(0, abort.signal)).rejects.toThrow()

    expect(names(await read(0, signal))).toEqual(Array.from({ length: pageSize }, (_, index) => index))
  })

  it('are filled with the live forms of several requests, which end with the reading', async () => {
    const abort = new AbortController()
    const { read, requests } = listOf(1_200, ({ pageToken }) => pageToken && abort.abort(), {
      ...all,
      live: 'live',
    })

    expect(names(await read(0, signal))).toEqual(Array.from({ length: pageSize }, (_, index) => index * 3))
    await expect(read(15, abort.signal)).rejects.toThrow()
    expect(requests).toHaveLength(2)
    expect(await read(15, signal)).toMatchObject({ hasNext: false, totalSize: undefined })
  })
})
