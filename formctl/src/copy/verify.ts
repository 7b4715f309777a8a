import { createHash } from 'node:crypto'
import type { OpenStore, StoreKind, Tally } from './store-kind.ts'

/** The content of two equal stores. */
export interface VerifyResult {
  counts: Tally
  /** SHA-256 over the digests of all records in their order, hexadecimal. */
  sha256: string
}

/**
 * Compares the records of both stores by number and content. Holds one record of each store in memory.
 *
 * @throws {Error} that names the first record that differs.
 */
export const verifyEqual = async <R>(
  kind: StoreKind<R>,
  source: OpenStore<R>,
  target: OpenStore<R>,
  step: () => void = () => {},
): Promise<VerifyResult> => {
  const hash = createHash('sha256')
  const counts: Tally = {}
  for await (const [sent, received] of pairs(kind, source.records(), target.records())) {
    if (!received) throw notEqual(kind, `the target lacks ${kind.nameOf(sent!)}`)
    if (!sent) throw notEqual(kind, `the source lacks ${kind.nameOf(received)}`)
    const digest = kind.digestOf(sent)
    if (digest !== kind.digestOf(received)) throw notEqual(kind, `they differ in ${kind.nameOf(sent)}`)
    hash.update(digest)
    for (const [name, count] of Object.entries(kind.tallyOf(sent))) counts[name] = (counts[name] ?? 0) + count
    step()
  }
  return { counts, sha256: hash.digest('hex') }
}

const notEqual = ({ store }: { store: string }, how: string) =>
  new Error(
    `The two ${store} stores are not equal: ${how}. Stop all processes that write to them, and copy into a separate store; then repeat the command.`,
  )

/** Merges two ordered sequences into pairs. A record without a counterpart is paired with undefined. */
async function* pairs<R>(
  { sortKeyOf }: StoreKind<R>,
  left: AsyncIterable<R>,
  right: AsyncIterable<R>,
): AsyncGenerator<[left: R | undefined, right: R | undefined]> {
  const [lefts, rights] = [left[Symbol.asyncIterator](), right[Symbol.asyncIterator]()]
  const next = async (records: AsyncIterator<R>) => {
    const { done, value } = await records.next()
    return done ? undefined : value
  }
  try {
    let [one, other] = await Promise.all([next(lefts), next(rights)])
    while (one || other) {
      const isLeft = one && (!other || sortKeyOf(one) <= sortKeyOf(other))
      const isRight = other && (!one || sortKeyOf(other) <= sortKeyOf(one))
      yield [isLeft ? one : undefined, isRight ? other : undefined]
      const following = [isLeft ? next(lefts) : one, isRight ? next(rights) : other] as const
      ;[one, other] = await Promise.all(following)
    }
  } finally {
    await Promise.all([lefts.return?.(), rights.return?.()])
  }
}
