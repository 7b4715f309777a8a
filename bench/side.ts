import type { Load } from './load.ts'
import type { Memory } from './processes.ts'
import type { Operation } from './requests.ts'

/** The product, a second one with three publishers, and what they are measured against. */
export const sideNames = {
  product: 'the product',
  three: 'the product, 3 publishers',
  B0: 'bare Fastify + SQLite',
  B1: 'B0 behind @fastify/http-proxy',
  B2: 'B0 behind nginx',
  J: 'bare JetStream round trip',
} as const
export type SideName = keyof typeof sideNames

/** Something that load is put on. */
export interface Side extends AsyncDisposable {
  name: SideName
  operations: readonly Operation[]
  /** Its processes by name; all of them are counted. */
  pids(): Record<string, number[]>
  load(operation: Operation, connections: number): Load
}

export type MemoryOfProcesses = Record<string, Memory>
