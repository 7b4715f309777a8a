import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{libs,services,formctl,scripts}/**/*.test.ts', 'e2e/**/*.test.ts'],
    globalSetup: 'scripts/testing/engines.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
