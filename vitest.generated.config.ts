import { defineConfig } from 'vitest/config'

/** Clients from generators: `npm run test:generated`, with the toolchains that are on the PATH, and their registries. */
export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/report-engines.ts',
    include: ['e2e/**/*.generated.ts', 'e2e/clients/generated-typescript.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})
