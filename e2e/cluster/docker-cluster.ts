import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { operatorsEnv } from '../compose/compose.ts'
import type { Account } from '../system.ts'

const root = join(import.meta.dirname, '../..')

/** Ports of the gateway and of the one that replaces it. */
export const gatewayPorts = [18_080, 18_081] as const

/** The members of the replica set besides `mongo`. */
export const members = ['mongo-2', 'mongo-3']

/** The containers of docker-compose.yml, in a Compose project of their own. */
export class DockerCluster {
  readonly #env: NodeJS.ProcessEnv
  readonly #membersFile: string
  /** The folder of the release that the commands are from. */
  release: string

  constructor(release: string) {
    this.release = release
    this.#membersFile = join(release, 'members.json')
    writeFileSync(this.#membersFile, JSON.stringify({ services: membersFrom('docker-compose.yml') }))
    this.#env = {
      ...process.env,
      ...operatorsEnv(),
      COMPOSE_PROJECT_NAME: 'form-management-test',
      COMPOSE_DISABLE_ENV_FILE: 'true',
      COMPOSE_PROFILES: '',
      GATEWAY_PORTS: `127.0.0.1:${gatewayPorts.join('-')}`,
      PUBLISH_TIMEOUT_MS: '20000',
      // The clients of the fault tests exceed the default.
      RATE_LIMIT_PER_MINUTE: '0',
    }
  }

  /** Runs a shell script in a folder. @throws {Error} when a command of it fails. */
  async run(script: string, cwd = this.release, env: NodeJS.ProcessEnv = {}): Promise<void> {
    process.stdout.write(`$ ${script.trim()}\n`)
    const options = { cwd, env: { ...this.#environment, ...env }, stdio: 'inherit' } as const
    const [code] = await once(spawn('sh', ['-euc', script], options), 'exit')
    if (code !== 0) throw new Error(`exit code ${code}: ${script}`)
  }

  /** Runs `docker compose`. @returns its stdout. */
  async compose(...args: string[]): Promise<string> {
    const options = { cwd: this.release, env: this.#environment, maxBuffer: 2 ** 30 }
    const { stdout } = await promisify(execFile)('docker', ['compose', ...args], options)
    return stdout
  }

  /** `docker compose run --rm formctl …`, without the one-shots before it. @returns its stdout. */
  formctl(...args: string[]): Promise<string> {
    return this.compose('run', '--rm', '--no-deps', '-T', 'formctl', ...args)
  }

  /** Runs JavaScript as the root user in the member `mongo`. @returns what it prints. */
  mongosh(script: string): Promise<string> {
    const command = 'exec mongosh --quiet -u fms -p "$MONGO_INITDB_ROOT_PASSWORD" --eval "$0"'
    return this.compose('exec', '-T', 'mongo', 'sh', '-c', command, script)
  }

  /** Creates an organization with an owner and a key. */
  async account(slug: string): Promise<Account> {
    const email = `${slug}@example.com`
    const formctl = async (line: string) => JSON.parse(await this.formctl(...line.split(' '), '--json'))
    const { id: userId } = await formctl(`user create --email ${email}`)
    const { id: organizationId } = await formctl(`organization create --name ${slug} --slug ${slug}`)
    await formctl(`member add --organization ${slug} --user ${email} --role owner`)
    const { key: apiKey } = await formctl(`key create --user ${email} --name Test`)
    return { apiKey, userId, organizationId, slug, forms: `/organizations/${slug}/forms` }
  }

  get #environment(): NodeJS.ProcessEnv {
    const files = [join(this.release, 'docker-compose.yml'), this.#membersFile]
    return { ...this.#env, COMPOSE_FILE: files.join(':') }
  }
}

/** Further members of the replica set: like `mongo`, with their own data, which they get from the primary. */
const membersFrom = (file: string) => {
  const { mongo } = parse(readFileSync(join(root, file), 'utf8'), { merge: true }).services
  const { MONGODB_KEY } = mongo.environment
  const member = (hostname: string) => ({ ...mongo, hostname, environment: { MONGODB_KEY }, volumes: [] })
  return Object.fromEntries(members.map((name) => [name, member(name)]))
}
