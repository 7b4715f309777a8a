import type { Agent } from 'undici'
import type { AdmissionQueue } from './admission/admission-queue.ts'
import type { MemoryBudget } from './admission/memory-budget.ts'
import type { Authorize } from './caller/authorization-cache.ts'
import type { GatewayConfig } from './config.ts'
import type { ConsoleReader } from './console/console-files.ts'
import type { ConcurrencyLimits } from './limits/concurrency-limits.ts'
import type { FixedWindowCounter } from './limits/rate-limit.ts'
import type { PublisherClient } from './publish/publisher-client.ts'
import type { Upstream } from './upstream/upstream.ts'

export interface GatewayDeps {
  config: GatewayConfig
  organizations: Upstream
  forms: Upstream
  /** `publish` holds a seat until the reply or deadline. `sessions` is apart: wrong codes delay no other caller. */
  queues: Record<'organizations' | 'forms' | 'publish' | 'sessions', AdmissionQueue>
  streamAgent: Agent
  responseBudget: MemoryBudget
  authorize: Authorize
  counts: FixedWindowCounter
  /** Of requests without a key. */
  addressCounts: FixedWindowCounter
  limits: ConcurrencyLimits
  publisher: PublisherClient
  token: () => string
  consoleFiles: ConsoleReader
}
