import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { type Addresses, connectTo, type RunningSystem, startSystem } from './system.ts'

declare module 'vitest' {
  interface ProvidedContext {
    system: Addresses
  }
}

/** Vitest's globalSetup of a project whose tests share one system: to start one takes five seconds of CPU time. */
export default async function shareSystem(project: TestProject) {
  const system = await startSystem({ store: project.config.env.E2E_STORE })
  const { baseUrl, directoryStoreUrl, formsStoreUrl, urls, dataDir } = system
  project.provide('system', { baseUrl, directoryStoreUrl, formsStoreUrl, urls, dataDir })
  return () => system[Symbol.asyncDispose]()
}

/** The system that a test shares with others. Tests that stop a process or set variables start one of their own. */
export const sharedSystem = (): Promise<RunningSystem> => connectTo(inject('system'))
