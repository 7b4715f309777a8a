import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { findChromium } from './libs/testkit/src/machine/find-chromium.ts'
import { mongodbSuites } from './libs/testkit/src/mongodb/mongodb-suites.ts'
import { prepareEngine } from './libs/testkit/src/mongodb.ts'
import { temporaryFolder } from './libs/testkit/src/temporary-folder.ts'

const disk = tmpdir()
// For global setups as well, which run in this process.
process.env.TMPDIR = temporaryFolder()

const missingMongodb = await prepareEngine(process.env)
const skipped = missingMongodb ? mongodbSuites() : []

const onMongodb = {
  extends: true as const,
  test: {
    // Tests of the system again, on MongoDB stores. `npm run test:mongodb` has more of them.
    name: 'on MongoDB',
    include: ['e2e/lifecycle.test.ts'],
    env: { E2E_STORE: 'mongodb' },
  },
}

/** Tests of what a process counts and traces from its start, or of its longest task, which may collect a large heap. */
const ofProcess = [
  'libs/service-kit/src/telemetry/*.test.ts',
  'services/forms/src/drafts/*.test.ts',
  'services/publisher/src/{app,events,metrics,revision-metrics,tracing}.test.ts',
]

/** The faults of `npm test`. `npm run test:faults` has all. */
const someFaults = [
  'kill -9 of everything',
  'kill -9 of publisher',
  'without NATS',
  'pause of forms',
  'pause of nats-server',
  'clock of forms',
  'clock of publisher',
  'full disk',
]

export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/machine/report-engines.ts',
    // Files of a worker share their modules: to import them again for each file would take a quarter of the CPU time.
    isolate: false,
    // Space for new objects from the start: tests leave mostly garbage. About 5% less CPU time.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
    // Shared by the processes that tests start, so that Node.js strips the types of each source once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') },
    // Long, so that a busy machine causes no timeout.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // More than the two cores of a small machine, since many of these tests wait for timeouts.
    maxWorkers: 5,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['{libs,services,formctl,console,scripts,bench,tools}/**/*.test.ts'],
          exclude: [...ofProcess, ...skipped],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['e2e/**/*.test.ts', ...(findChromium() ? ['e2e/console/*.browser.ts'] : [])],
          exclude: ['e2e/neighbours.test.ts', ...skipped],
          globalSetup: 'e2e/shared-system.ts',
          // The processes of a system keep two cores busy with fewer workers.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          env: { FAULT_NAMES: process.env.FAULT_NAMES ?? someFaults.join('|') },
        },
      },
      { extends: true, test: { name: 'in a process of their own', include: ofProcess, isolate: true } },
      {
        extends: true,
        test: {
          // Measures response times, so it runs alone after all other tests, and on the disk.
          name: 'neighbours',
          include: ['e2e/neighbours.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          env: { TMPDIR: disk },
        },
      },
      ...(missingMongodb ? [] : [onMongodb]),
    ],
  },
})
