import { createHash } from 'node:crypto'
import type { OpenedStore, StoreKind, Tally } from './store-kind.ts'

/** What two equal stores hold. */
export interface Verified {
  /** How many of what. */
  counts: Tally
  /** Over the digests of all records in their order, hexadecimal. */
  sha256: string
}

/**
 * Reads both stores side by side, one record of each at a time, and compares their number and their content.
 *
 * @throws {Error} that names the first record in which they differ.
 */
export const verifyEqual = async <R>(
  kind: StoreKind<R>,
  source: OpenedStore<R>,
  target: OpenedStore<R>,
  step: () => void = () => {},
): Promise<Verified> => {
  const hash = createHash('sha256')
  const counts: Tally = {}
  for await (const [sent, received] of sideBySide(kind, source.records(), target.records())) {
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

const notEqual = ({ name }: { name: string }, how: string) =>
  new Error(
    `The two ${name} stores are not equal: ${how}. Stop whatever writes to either of them, and copy into a store of its own; then repeat the command.`,
  )

/** The records of both, those that belong together in pairs. */
async function* sideBySide<R>(
  { positionOf }: StoreKind<R>,
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
      const isLeft = one && (!other || positionOf(one) <= positionOf(other))
      const isRight = other && (!one || positionOf(other) <= positionOf(one))
      yield [isLeft ? one : undefined, isRight ? other : undefined]
      const following = [isLeft ? next(lefts) : one, isRight ? next(rights) : other] as const
      ;[one, other] = await Promise.all(following)
    }
  } finally {
    await Promise.all([lefts.return?.(), rights.return?.()])
  }
}
