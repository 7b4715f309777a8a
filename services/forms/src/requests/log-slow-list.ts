import type { ListReport } from '@fms/forms-store'
import type { FastifyRequest } from 'fastify'

/** A list that takes as long, in milliseconds, has a line in the log. */
export const slowListMs = 500

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/** Reads a page of forms, and logs how if it took {@link slowListMs} or failed after that: docs/first-ten-minutes.md. */
export const logSlowList = async <T>(
  { log, identity, query }: FastifyRequest,
  read: (report: ListReport) => Promise<T>,
): Promise<T> => {
  const report: ListReport = { waitedMs: 0 }
  const startedAt = performance.now()
  try {
    return await read(report)
  } finally {
    const tookMs = performance.now() - startedAt
    if (tookMs >= slowListMs) {
      const { filter, orderBy, pageSize, skip } = query as Record<string, string | undefined>
      log.info(
        {
          organization: identity.organizationId,
          user: identity.userId,
          filter,
          order_by: orderBy,
          page_size: pageSize,
          skip,
          plan: report.plan,
          rows: report.rows,
          waited_ms: rounded(report.waitedMs),
          worked_ms: rounded(tookMs - report.waitedMs),
        },
        'slow list',
      )
    }
  }
}
