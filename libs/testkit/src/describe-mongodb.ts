import { describe, it } from 'vitest'
import { mongodbIsAvailable, reportSkipped } from './mongodb.ts'

/**
 * A `describe` for tests that need a MongoDB. Where this machine has none, `suite` does not run, and the report at the end of
 * the test run names it.
 *
 * @param suite may be asynchronous, to start the engine.
 */
export const describeMongodb = (name: string, suite: () => void | Promise<void>): void => {
  if (mongodbIsAvailable()) {
    describe(name, suite)
    return
  }
  reportSkipped(process.env, name)
  describe.skip(name, () => {
    it('needs a MongoDB', () => {})
  })
}
