/** A service that prints a line of JSON when it starts and when it stops: `node service.ts NAME`. */
const name = process.argv[2]
const print = (event: string) =>
  process.stdout.write(`${JSON.stringify({ event, service: name, pid: process.pid })}\n`)

process.on('SIGTERM', () => {
  print('stopped')
  process.exit(0)
})
setInterval(() => {}, 60_000)
print('running')
