import type { FormsCollections } from '../../documents.ts'
import { interceptRequests } from './intercept-requests.ts'

/**
 * A request by its collection and method, such as `forms.insert`, of which the first counts.
 */
type RequestName = `${keyof FormsCollections}.${string}`

/** Collections that run `work` once, before the request. */
export const runBefore = (
  collections: FormsCollections,
  request: RequestName,
  work: () => Promise<unknown>,
): FormsCollections => {
  let isRun = false
  return interceptRequests(collections, async (send, name) => {
    if (name === request && !isRun) {
      isRun = true
      await work()
    }
    return send()
  })
}

/** Collections that run `work` once, between the request and its response. */
export const runAfter = (
  collections: FormsCollections,
  request: RequestName,
  work: () => Promise<unknown>,
): FormsCollections => {
  let isRun = false
  return interceptRequests(collections, async (send, name) => {
    const response = await send()
    if (name === request && !isRun) {
      isRun = true
      await work()
    }
    return response
  })
}

/** Collections of a process that is killed before the request: no later one is sent, either. */
export const killBefore = (collections: FormsCollections, request: RequestName): FormsCollections => {
  let isKilled = false
  return interceptRequests(collections, async (send, name) => {
    isKilled ||= name === request
    if (isKilled) throw new Error('killed')
    return send()
  })
}
