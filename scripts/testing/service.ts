/** A service that tells on stdout when it runs and when it stops: `node service.ts NAME`. */
const name = process.argv[2]
const tell = (event: string) =>
  process.stdout.write(`${JSON.stringify({ event, service: name, pid: process.pid })}\n`)

process.on('SIGTERM', () => {
  tell('stopped')
  process.exit(0)
})
setInterval(() => {}, 60_000)
tell('running')
