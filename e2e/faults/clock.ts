/**
 * Preloaded into services (`node --import`): a clock that the parent puts forward or back by a message
 * `{ clockShiftMs }`. What is monotonic (`performance.now()`, timers) stays, as it does on a real machine.
 */
const SystemDate = Date
let shiftMs = 0
const now = () => SystemDate.now() + shiftMs

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

process.on('message', (message: { clockShiftMs?: number }) => {
  shiftMs = message.clockShiftMs ?? shiftMs
})
// Listening alone is no reason to stay alive.
process.channel?.unref()
