/**
 * Preloaded into each service of a fault test (`node --import`): its time of day is that of the machine plus an offset,
 * which the parent sends. `performance.now()` and timers stay as they are, as they do on a machine whose clock jumps.
 */
const now = Date.now.bind(Date)
let offsetMs = 0

Date.now = () => now() + offsetMs
globalThis.Date = new Proxy(Date, {
  construct: (date, args, made) =>
    Reflect.construct(date, args.length === 0 ? [Date.now()] : args, made === globalThis.Date ? date : made),
})

process.on('message', (message: { clockOffsetMs: number }) => {
  offsetMs = message.clockOffsetMs
  process.send!(message)
})
process.channel?.unref()

export {}
