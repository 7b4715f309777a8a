import { defineConfig } from 'vitest/config'

/** `npm run test:generated`: generated clients, with the toolchains on the PATH and their package registries. */
export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/report-engines.ts',
    include: ['e2e/**/*.generated.ts', 'e2e/clients/generated-typescript.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})
