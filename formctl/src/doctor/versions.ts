import { type Check, ok } from './check.ts'

/** Of what every process here runs on; stores and NATS tell their own. */
export const checkVersions = (): Check =>
  ok('versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, ${process.platform}`)
