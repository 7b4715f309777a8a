import { findOnPath } from './toolchains.ts'

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/**
 * The program that runs the browser tests: the variable `CHROMIUM`, else Chromium or Chrome on the PATH.
 *
 * @returns undefined if there is none, or if `CHROMIUM` is empty.
 */
export const findChromium = (): string | undefined =>
  process.env.CHROMIUM === undefined ? programs.flatMap(findOnPath)[0] : process.env.CHROMIUM || undefined
