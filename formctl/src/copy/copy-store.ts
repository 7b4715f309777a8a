import type { Command } from 'commander'
import { type NamedStore, namingStore } from '../naming-store.ts'
import { eachAtOnce } from './each-at-once.ts'
import { Interruption } from './interruption.ts'
import { startProgress } from './progress.ts'
import type { OpenedStore, StoreKind } from './store-kind.ts'
import { type Verified, verifyEqual } from './verify.ts'

/** What a copy came to. */
export interface Copied extends Verified {
  store: string
  /** Records that this run stored, and those that were there: of an earlier run, for one. */
  imported: number
  existing: number
}

/**
 * Copies one store into another and compares the two. The source is only read. May be interrupted anywhere: each
 * record is stored as a whole or not at all, and a repeat skips what is there.
 */
export const copyStore = async <R>(
  command: Command,
  kind: StoreKind<R>,
  from: string,
  to: string,
): Promise<Copied> => {
  await namingStore({ name: kind.name, url: to, setting: '--to' }, () => kind.migrate(to))
  await using source = named(await kind.open(from, true), { name: kind.name, url: from, setting: '--from' })
  await using target = named(await kind.open(to, false), { name: kind.name, url: to, setting: '--to' })
  using interruption = new Interruption()
  const total = await source.count()
  const tally = { imported: 0, existing: 0 }
  {
    using progress = await startProgress(command, `Copying ${kind.name}`, total)
    await eachAtOnce(kind.atOnce, interruption.until(source.records()), async (record) => {
      const outcome = await target.importRecord(record)
      tally[outcome === 'imported' ? 'imported' : 'existing']++
      progress.step()
    })
  }
  const there = tally.imported + tally.existing
  const goOn = `${there} of ${total} are in the target. The same command again goes on from there.`
  interruption.check(goOn)
  using progress = await startProgress(command, `Comparing ${kind.name}`, total)
  const step = () => {
    interruption.check(goOn)
    progress.step()
  }
  return { store: kind.name, ...tally, ...(await verifyEqual(kind, source, target, step)) }
}

/** The same store; its errors name it. */
const named = <R>(store: OpenedStore<R>, name: NamedStore): OpenedStore<R> => ({
  async *records() {
    const records = store.records()[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await namingStore(name, () => records.next())
        if (done) return
        yield value
      }
    } finally {
      await records.return?.()
    }
  },
  count: () => namingStore(name, () => store.count()),
  importRecord: (record) => namingStore(name, () => store.importRecord(record)),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
})
