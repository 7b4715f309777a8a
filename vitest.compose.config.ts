import { defineConfig } from 'vitest/config'

/** `npm run test:compose`: the Compose cluster on an engine that enforces users and roles. Needs Python 3 and PyPI. */
export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/machine/report-engines.ts',
    include: ['e2e/**/*.compose.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
})
