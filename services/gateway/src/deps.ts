import type { Agent } from 'undici'
import type { Authorize } from './caller/authorization-cache.ts'
import type { GatewayConfig } from './config.ts'
import type { ConsoleReader } from './console/console-files.ts'
import type { ByteBudget } from './door/byte-budget.ts'
import type { Door } from './door/door.ts'
import type { ConcurrencyLimits } from './limits/concurrency-limits.ts'
import type { FixedWindowCounter } from './limits/rate-limit.ts'
import type { PublisherClient } from './publish/publisher-client.ts'
import type { Upstream } from './upstream/upstream.ts'

/** What the routes under `/v2` need. */
export interface GatewayDeps {
  config: GatewayConfig
  organizations: Upstream
  forms: Upstream
  /**
   * A request to `publish` holds its place until its reply or deadline. Wrong codes, in `sessions`, delay no other
   * caller.
   */
  doors: Record<'organizations' | 'forms' | 'publish' | 'sessions', Door>
  /** The connections for event streams. */
  streamAgent: Agent
  memory: ByteBudget
  authorize: Authorize
  counts: FixedWindowCounter
  limits: ConcurrencyLimits
  publisher: PublisherClient
  /** The gateway's own identity token. */
  token: () => string
  consoleFiles: ConsoleReader
}
