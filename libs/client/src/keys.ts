import { isReason } from './errors.ts'
import { type List, listOf, type PageQuery } from './pages.ts'
import type { IssuedKey, Key, KeyInput } from './schemas.generated.ts'
import { pathOf } from './transport/references.ts'
import type { CallOptions, Transport } from './transport/transport.ts'
import { newRequestId } from './write-form.ts'

export interface KeyWriteOptions extends CallOptions {
  /** Runs every check and stores nothing. */
  validateOnly?: boolean
}

/** The API keys of the user of the client's key. */
export interface Keys {
  /** Lists the live keys, newest first. */
  list(query?: PageQuery): List<Key>
  /**
   * Creates a key, which may do no more than that of the client. Throws KEY_ALREADY_CREATED if only the response with the
   * secret was lost: delete the key in `metadata.key`, and create another one.
   *
   * @param options `requestId` is a UUID that creates one key, however often the call is repeated; default: a random one.
   */
  create(key: KeyInput, options?: KeyWriteOptions & { requestId?: string }): Promise<IssuedKey>
  /**
   * Replaces a key by one with the same name, rights and expireTime. Throws KEY_ALREADY_CREATED as `create` does.
   *
   * @param key UUID, or the `path` of a key.
   * @param options `requestId` as for `create`. `overlapSeconds` is how long the old key still works: 0, the default, to
   *   604,800. A read-only key that rotates itself takes only 0.
   */
  rotate(
    key: string,
    options?: KeyWriteOptions & { overlapSeconds?: number; requestId?: string },
  ): Promise<IssuedKey>
  /** Revokes a key, everywhere within a second. @param key UUID, or the `path` of a key. */
  delete(key: string, options?: KeyWriteOptions): Promise<void>
}

export const keysOf = ({ send }: Transport): Keys => ({
  list: (query) => listOf(send, () => pathOf(['keys']), 'keys', query),

  async create(key, { validateOnly, requestId = newRequestId(), signal } = {}) {
    const body = { key, validateOnly, requestId }
    return (await send<IssuedKey>({ method: 'POST', path: pathOf(['keys']), body, signal })).body
  },

  async rotate(key, { overlapSeconds, validateOnly, requestId = newRequestId(), signal } = {}) {
    const path = pathOf(['keys', key], ['rotate'])
    const body = { overlapSeconds, validateOnly, requestId }
    return (await send<IssuedKey>({ method: 'POST', path, body, signal, isUndecidedBy: isOwnKeyEnded })).body
  },

  async delete(key, { validateOnly = false, signal } = {}) {
    await send({
      method: 'DELETE',
      path: pathOf(['keys', key]),
      // Not in the body, which proxies may drop.
      ...(validateOnly && { query: { validateOnly } }),
      signal,
      isDoneBefore: (rejection) => !validateOnly && isReason(rejection, 'KEY_NOT_FOUND'),
      isUndecidedBy: isOwnKeyEnded,
    })
  },
})

/** Whether the client's own key has ended: by an earlier attempt, if it is the key of the call, or otherwise. */
const isOwnKeyEnded = (rejection: unknown) => isReason(rejection, 'API_KEY_INVALID')
