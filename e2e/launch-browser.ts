import { findChromium } from '@fms/testkit/machine/find-chromium'
import { type Browser, chromium } from 'playwright-core'

/** Starts headless Chromium without background requests. @throws {Error} if there is no Chromium. */
export const launchBrowser = async (): Promise<Browser> => {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('Install Chromium or Chrome, or set CHROMIUM to the path of one.')
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Pages of the browser's own omnibox: each new window would load two of them, which takes twice as long as a test's.
      '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades',
    ],
  })
}
