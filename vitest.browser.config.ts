import { defineConfig } from 'vitest/config'

/** `npm run test:browser`: tests in Chromium, at `CHROMIUM` or /usr/bin/chromium. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
