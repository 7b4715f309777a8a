import { sleep } from './create-client.ts'
import { pathOf } from './references.ts'
import type { IssuedKey } from './schemas.generated.ts'
import { type CallOptions, type ClientOptions, createTransport } from './transport.ts'

/**
 * Signs in with the one-time code of a login link. Needs no key. A code works once, so a call with an unknown outcome is
 * not retried.
 *
 * @returns a key that works for 12 hours, for {@link createClient}. Delete it to sign out.
 * @throws {FormsApiError} LOGIN_CODE_INVALID for a wrong, used or expired code.
 */
export const createSession = async (
  options: Omit<ClientOptions, 'apiKey'>,
  code: string,
  { signal }: CallOptions = {},
): Promise<IssuedKey> => {
  const { send } = createTransport(options, { sleep, random: Math.random })
  const call = {
    method: 'POST',
    path: pathOf(['sessions']),
    body: { code },
    isIdempotent: false,
    signal,
  } as const
  return (await send<IssuedKey>(call)).body
}
