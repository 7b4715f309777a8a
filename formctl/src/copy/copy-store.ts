import type { Command } from 'commander'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import { type NamedStore, withStoreName } from '../stores/named-store.ts'
import type { OpenStore, StoreKind } from './store-kind.ts'
import { type VerifyResult, verifyEqual } from './verify.ts'

/** The result of a copy. */
export interface CopyResult extends VerifyResult {
  store: string
  /** Records that this run stored. */
  imported: number
  /** Records that existed in the target, for example from an earlier run. */
  existing: number
}

/**
 * Copies one store into another and compares the two. Only reads the source. May be interrupted and repeated: each record
 * is stored atomically, and a repeat skips existing records.
 *
 * @throws {Error} if it is interrupted, or if the stores differ afterwards.
 */
export const copyStore = async <R>(
  command: Command,
  kind: StoreKind<R>,
  from: string,
  to: string,
): Promise<CopyResult> => {
  await withStoreName({ name: kind.name, url: to, setting: '--to' }, () => kind.migrate(to))
  await using source = withNamedErrors(await kind.open(from, true), {
    name: kind.name,
    url: from,
    setting: '--from',
  })
  await using target = withNamedErrors(await kind.open(to, false), {
    name: kind.name,
    url: to,
    setting: '--to',
  })
  using interruption = new Interruption()
  const total = await source.count()
  const tally = { imported: 0, existing: 0 }
  {
    using progress = await startProgress(command, `Copying ${kind.name}`, total)
    await forEachConcurrently(kind.concurrency, interruption.until(source.records()), async (record) => {
      const outcome = await target.importRecord(record)
      tally[outcome === 'imported' ? 'imported' : 'existing']++
      progress.step()
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

/** The same store, with its name in error messages. */
const withNamedErrors = <R>(store: OpenStore<R>, name: NamedStore): OpenStore<R> => ({
  async *records() {
    const records = store.records()[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await withStoreName(name, () => records.next())
        if (done) return
        yield value
      }
    } finally {
      await records.return?.()
    }
  },
  count: () => withStoreName(name, () => store.count()),
  importRecord: (record) => withStoreName(name, () => store.importRecord(record)),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
})
