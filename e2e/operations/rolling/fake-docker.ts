import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

/** Runs a command of Docker. @returns its output. @throws {Error} when it fails. */
export type RunDockerCommand = (args: string[]) => Promise<string>

/** A `docker` on the PATH of shell scripts that runs their commands in this process. */
export interface FakeDocker extends AsyncDisposable {
  /** Runs a shell script. @throws {Error} with the output of a script that fails. */
  runScript(script: string, cwd: string): Promise<void>
}

/** The program `docker`: sends its arguments to the test, one a line, prints the response, and fails where it is an error. */
const program = (url: string) => `#!/bin/sh
response=$(printf '%s\\n' "$@" | curl --silent --fail-with-body --data-binary @- ${url}) || {
  printf '%s\\n' "$response" >&2
  exit 1
}
printf '%s\\n' "$response"
`

export const startFakeDocker = async (runCommand: RunDockerCommand): Promise<FakeDocker> => {
  await using starting = new AsyncDisposableStack()
  const bin = starting.use(await mkdtempDisposable(join(tmpdir(), 'fake-docker-')))
  const server = createServer(async (request, response) => {
    const args = (await text(request)).trimEnd().split('\n')
    const [status, output] = await runCommand(args).then(
      (printed) => [200, printed] as const,
      (error) => [500, `docker ${args.join(' ')}: ${error}\n`] as const,
    )
    response.writeHead(status).end(output)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  starting.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  await writeFile(join(bin.path, 'docker'), program(`http://127.0.0.1:${port}`), { mode: 0o755 })
  const env = { ...process.env, PATH: [bin.path, process.env.PATH].join(delimiter) }

  const started = starting.move()
  return {
    runScript: async (script, cwd) => void (await promisify(execFile)('sh', ['-euc', script], { cwd, env })),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
