import type { Load } from '../load/load-generator.ts'
import type { Operation } from '../load/requests.ts'

/** The systems that are measured: the product, the product with three publishers, and the baselines. */
export const sideNames = {
  product: 'the product',
  three: 'the product, 3 publishers',
  B0: 'bare Fastify + SQLite',
  B1: 'B0 behind @fastify/http-proxy',
  B2: 'B0 behind nginx',
  J: 'bare JetStream round trip',
  M: 'bare Fastify + MongoDB driver',
} as const
export type SideName = keyof typeof sideNames

/** A system under load. */
export interface Side extends AsyncDisposable {
  name: SideName
  operations: readonly Operation[]
  /** Its process ids by process name. The CPU time of all of them is counted. */
  pids(): Record<string, number[]>
  load(operation: Operation, connections: number): Load
}
