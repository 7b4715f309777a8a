import type { RevisionGrowth, RevisionsSize } from '@fms/forms-store'
import { Gauge } from '@fms/service-kit'
import { sharedReading } from './shared-reading.ts'

/** How long both gauges use what one request to the store returned, in milliseconds. Revisions grow slowly. */
const sharedMs = 60_000

const totals = sharedReading(sharedMs, (growth: RevisionGrowth) => growth.total())

/** A gauge of all revisions. It has no value while the store is unavailable. */
const revisionGauge = (name: string, help: string, pick: (total: RevisionsSize) => number) =>
  new Gauge({
    name,
    help: `${help}, including those of deleted forms until they are cleared: the same value on every instance`,
    labelNames: ['store'],
    async collect() {
      const total = await totals.read()
      if (total) this.set({ store: 'forms' }, pick(total))
      else this.reset()
    },
  })

revisionGauge('store_revisions', 'Revisions in the store', ({ revisions }) => revisions)
revisionGauge(
  'store_revision_bytes',
  'Bytes of all revisions in the store as JSON in UTF-8',
  ({ bytes }) => bytes,
)

/** Adds the number and bytes of revisions to `/metrics`, read at most once a minute. @returns a function that removes them. */
export const watchRevisions = totals.watch
