import { defineConfig } from 'vitest/config'

/** `npm run test:browser`: all tests in Chromium. `npm test` includes those of the console. */
export default defineConfig({
  test: {
    globalSetup: 'e2e/shared-system.ts',
    include: ['e2e/**/*.browser.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
