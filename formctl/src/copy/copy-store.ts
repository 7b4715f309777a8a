import { createHash } from 'node:crypto'
import { recordDigest } from '@fms/store-kit'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import type { Command } from '../cli/command.ts'
import { withStoreName } from '../stores/open-stores.ts'
import type { NamedStore } from '../stores/require-store.ts'
import type { OpenStore, StoreKind, Tally } from './store-kinds.ts'

export interface CopyResult extends VerifyResult {
  /** `directory`, `forms`, or `events` of the forms store. */
  store: string
  /** Records that this run stored. */
  imported: number
  /** Records that existed in the target, for example from an earlier run. */
  existing: number
}

/** Groups of records that are imported concurrently, so that SQLite commits them in one transaction. */
const maxGroups = 8

/**
 * Copies one store into another, and compares the two. May be interrupted and repeated: each record is stored atomically,
 * and existing ones are skipped.
 *
 * @throws {Error} if it is interrupted, or if the stores differ afterwards.
 */
export const copyStore = async <R>(
  command: Command,
  kind: StoreKind<R>,
  from: string,
  to: string,
): Promise<CopyResult> => {
  const sourceName = { name: kind.store, url: from, setting: '--from' }
  const targetName = { name: kind.store, url: to, setting: '--to' }
  await withStoreName(targetName, () => kind.migrate(to))
  await using source = withNamedErrors(await kind.open(from, true), sourceName)
  await using target = withNamedErrors(await kind.open(to, false), targetName)
  using interruption = new Interruption()
  const total = await source.count()
  const tally = { imported: 0, existing: 0 }
  {
    using progress = await startProgress(command, `Copying ${kind.name}`, total)
    await forEachConcurrently(maxGroups, interruption.until(source.groups()), async (group) => {
      for await (const record of interruption.until(group)) {
        const outcome = await target.importRecord(record)
        tally[outcome === 'imported' ? 'imported' : 'existing']++
        progress.step()
      }
    })
  }
  const copied = tally.imported + tally.existing
  const resumeHint = `${copied} of ${total} are in the target. Repeat the command to resume.`
  interruption.check(resumeHint)
  using progress = await startProgress(command, `Comparing ${kind.name}`, total)
  const step = () => {
    interruption.check(resumeHint)
    progress.step()
  }
  return { store: kind.name, ...tally, ...(await verifyEqual(kind, source, target, step)) }
}

const withNamedErrors = <R>(store: OpenStore<R>, name: NamedStore): OpenStore<R> => ({
  groups: () => namedGroups(name, store.groups()),
  count: () => withStoreName(name, () => store.count()),
  importRecord: (record) => withStoreName(name, () => store.importRecord(record)),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
})

async function* namedGroups<R>(
  name: NamedStore,
  groups: ReturnType<OpenStore<R>['groups']>,
): AsyncGenerator<AsyncGenerator<R>> {
  for await (const group of namedErrors(name, groups)) yield namedErrors(name, group)
}

async function* namedErrors<T>(name: NamedStore, items: AsyncIterable<T> | T[]): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    await withStoreName(name, () => Promise.reject(error))
  }
}

interface VerifyResult {
  counts: Tally
  /** SHA-256 over the digests of all records in their order, hexadecimal. */
  sha256: string
}

/** Compares the records of two stores, one at a time. @throws {Error} that names the first record that differs. */
const verifyEqual = async <R>(
  kind: StoreKind<R>,
  source: OpenStore<R>,
  target: OpenStore<R>,
  step: () => void,
): Promise<VerifyResult> => {
  const hash = createHash('sha256')
  const counts: Tally = {}
  for await (const [sent, received] of pairs(kind, recordsOf(source), recordsOf(target))) {
    if (!received) throw notEqual(kind, `the target lacks ${kind.nameOf(sent!)}`)
    if (!sent) throw notEqual(kind, `the source lacks ${kind.nameOf(received)}`)
    const digest = recordDigest(sent)
    if (digest !== recordDigest(received)) throw notEqual(kind, `they differ in ${kind.nameOf(sent)}`)
    hash.update(digest)
    for (const [name, count] of Object.entries(kind.tallyOf(sent))) counts[name] = (counts[name] ?? 0) + count
    step()
  }
  return { counts, sha256: hash.digest('hex') }
}

export async function* recordsOf<R>(store: OpenStore<R>): AsyncGenerator<R> {
  for await (const group of store.groups()) yield* group
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
