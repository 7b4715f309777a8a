import { afterAll, inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { type Addresses, connectTo, type RunningSystem, startSystem } from './system.ts'

declare module 'vitest' {
  interface ProvidedContext {
    system: Addresses | undefined
  }
}

/** From which live forms may show images. */
export const imageOrigin = 'https://images.example.com'

const start = (store?: string) => startSystem({ store, env: { PUBLIC_FORM_IMAGE_ORIGINS: imageOrigin } })

/** Vitest's globalSetup of a project whose tests share one system: to start one takes five seconds of CPU time. */
export default async function shareSystem(project: TestProject) {
  const system = await start(project.config.env?.E2E_STORE)
  const { baseUrl, directoryStoreUrl, formsStoreUrl, urls, dataDir } = system
  project.provide('system', { baseUrl, directoryStoreUrl, formsStoreUrl, urls, dataDir })
  return () => system[Symbol.asyncDispose]()
}

/**
 * The system that a test shares with others, in a project without one a system of its own. Tests that stop a process or set
 * variables start their own.
 */
export const sharedSystem = async (): Promise<RunningSystem> => {
  const addresses = inject('system')
  if (addresses) return connectTo(addresses)
  const system = await start()
  afterAll(() => system[Symbol.asyncDispose]())
  return system
}
