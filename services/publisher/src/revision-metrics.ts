import type { RevisionGrowth } from '@fms/forms-store'
import { sharedGauges } from './shared-gauges.ts'

/** How long both gauges use what one request to the store returned, in milliseconds. Revisions grow slowly. */
const sharedMs = 60_000

const totals = sharedGauges(sharedMs, (growth: RevisionGrowth) => growth.total(), { store: 'forms' })

const deleted = 'including those of deleted forms until they are cleared'
totals.gauge('store_revisions', `Revisions in the store, ${deleted}`, ({ revisions }) => revisions)
totals.gauge(
  'store_revision_bytes',
  `Bytes of all revisions in the store as JSON in UTF-8, ${deleted}`,
  ({ bytes }) => bytes,
)

/** Adds the number and bytes of revisions to `/metrics`, read at most once a minute. @returns a function that removes them. */
export const watchRevisions = totals.watch
