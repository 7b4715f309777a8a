/**
 * Preload of each service in a fault test (`node --import`): shifts `Date` by an offset that the parent process sends.
 * `performance.now()` and timers are unchanged, as on a machine whose clock jumps.
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
