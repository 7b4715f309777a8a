import { maxLists } from '@fms/contracts'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { askBundle } from './ask-bundle.ts'
import { askTogether, type Several } from './ask-together.ts'
import type { Answer } from './gather.ts'
import type { Ask } from './proxy.ts'
import type { Upstream } from './upstreams.ts'

/** Callers whose lists did not go together, remembered at once. */
const maxCallers = 1_000

/** Lists of forms by one caller that arrive together go on as one question, in which equal ones are one (decision 11). */
export const gatherLists = (forms: Upstream, alone: Ask): Ask => {
  // Long ones would be read twice again and again. A token lasts half a minute, which is long enough.
  const apart = new LRUCache<string, true>({ max: maxCallers })

  const ask = async (requests: Several) => {
    const answers = await readLists(forms, requests)
    if (answers.includes(undefined)) apart.set(requests[0].caller.token(), true)
    return answers
  }

  return askTogether({ fits: ({ caller }) => !apart.has(caller.token()), ask }, alone)
}

const readLists = async (forms: Upstream, requests: Several): Promise<(Answer | undefined)[]> => {
  const equal = Map.groupBy(requests, ({ raw }) => raw.url!)
  const answers = new Map<string, Answer | undefined>()
  const ask = async (urls: string[]) => {
    const lists = urls.map((url) => toList(equal.get(url)!))
    const read = await askBundle(forms, 'read-lists', requests[0], { lists })
    for (const [index, url] of urls.entries()) answers.set(url, read[index])
  }
  await Promise.all(chunksOf([...equal.keys()], maxLists).map(ask))
  return requests.map(({ raw }) => answers.get(raw.url!))
}

const toList = (equal: FastifyRequest[]) => ({
  query: equal[0]!.query as Record<string, string | string[]>,
  requestIds: equal.map(({ id }) => id),
})

const chunksOf = <T>(items: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
