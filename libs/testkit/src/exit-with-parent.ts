/**
 * Preloaded into every Node child (`node --import`): ends the child when its parent ends, even after `kill -9`. The kernel
 * then closes the IPC channel. An orderly shutdown is pointless, since nothing waits for it.
 */
if (process.channel) {
  process.once('disconnect', () => process.exit(1))
  // The open channel does not keep the process alive.
  process.channel.unref()
}
