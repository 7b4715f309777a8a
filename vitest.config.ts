import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'libs/testkit/src/report-engines.ts',
    // Generous: a timeout on a busy machine says nothing about the code.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['{libs,services,formctl,scripts,bench,tools}/**/*.test.ts', 'e2e/**/*.test.ts'],
          exclude: ['e2e/neighbours.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          // It measures times: by itself, when all others are done.
          name: 'neighbours',
          include: ['e2e/neighbours.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // The system once more, on stores of the distributed engine.
          name: 'on MongoDB',
          include: [
            'e2e/{lifecycle,publish}.test.ts',
            'e2e/security/{keys,malformed}.test.ts',
            'e2e/clients/client.test.ts',
            'e2e/docs/*.test.ts',
          ],
          env: { E2E_STORE: 'mongodb' },
        },
      },
    ],
  },
})
