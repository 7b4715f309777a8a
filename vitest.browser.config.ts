import { defineConfig } from 'vitest/config'

/** Tests that need a browser: `npm run test:browser`, with Chromium at /usr/bin/chromium or where CHROMIUM says. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.browser.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
