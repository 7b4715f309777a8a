/**
 * Preloaded into every Node child (`node --import`): when the parent is gone, even by kill -9, so is the child.
 * The kernel closes the parent's end of the IPC channel, and there is nobody left to shut down orderly for.
 */
if (process.channel) {
  process.once('disconnect', () => process.exit(1))
  // The channel alone is no reason to stay alive.
  process.channel.unref()
}
