import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@fms/testkit/ports'
import { childrenOf } from './processes.ts'

/** A running nginx. */
export interface Nginx {
  child: ChildProcess
  /** `http://127.0.0.1:port` */
  origin: string
  /** The master process and its workers. */
  pids(): number[]
}

/** Starts nginx in front of `upstreamHost` (`host:port`). @returns undefined when nginx is not installed. */
export const startNginx = async (folder: string, upstreamHost: string): Promise<Nginx | undefined> => {
  const command = findNginx()
  if (!command) return undefined
  mkdirSync(folder, { recursive: true })
  const [port] = (await freePorts(1)) as [number]
  const origin = `http://127.0.0.1:${port}`
  const configFile = join(folder, 'nginx.conf')
  writeFileSync(configFile, nginxConfig(folder, port, upstreamHost))
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(command, ['-c', configFile, '-e', 'stderr'], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  process.once('exit', () => child.kill())
  const isUp = () =>
    fetch(origin).then(
      () => true,
      () => false,
    )
  while (!(await isUp())) {
    if (child.exitCode !== null)
      throw new Error(`nginx ended with exit code ${child.exitCode}; see ${folder}/log`)
    await delay(20)
  }
  return { child, origin, pids: () => [child.pid!, ...childrenOf(child.pid!)] }
}

/** The nginx program on the PATH or in /usr/sbin. */
const findNginx = (): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, 'nginx'))
    .find((file) => existsSync(file))

const nginxConfig = (folder: string, port: number, upstreamHost: string): string => `
daemon off;
pid ${folder}/pid;
worker_processes auto;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream bare { server ${upstreamHost}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://bare;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
