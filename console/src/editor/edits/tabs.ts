const lockPrefix = 'fms-console-tab:'

/** The id of this tab until it is closed or reloaded. A duplicate of the tab has another one. */
export const thisTab = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) =>
  part.toString(36),
).join('-')

// The lock is held until the tab is closed, reloaded, or crashes. Without HTTPS, browsers have locks only on localhost.
navigator.locks?.request(`${lockPrefix}${thisTab}`, () => new Promise(() => {}))

/** The ids of the open tabs with the console. Empty where the browser has no locks: then every tab counts as closed. */
export const openTabs = async (): Promise<ReadonlySet<string>> => {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  return new Set(
    held.filter(({ name }) => name!.startsWith(lockPrefix)).map(({ name }) => name!.slice(lockPrefix.length)),
  )
}
