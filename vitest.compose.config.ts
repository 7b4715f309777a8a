import { defineConfig } from 'vitest/config'

/** The Compose cluster on an engine that enforces users and roles: `npm run test:compose`, with Python 3 and its registry. */
export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/report-engines.ts',
    include: ['e2e/**/*.compose.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
})
