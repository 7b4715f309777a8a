import { defineConfig } from 'vitest/config'

/** `npm run test:generated`: generated clients. Those for Python and Go need PyPI and the Go module proxy. */
export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/machine/report-engines.ts',
    include: ['e2e/**/*.generated.ts', 'e2e/clients/generated-typescript.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})
