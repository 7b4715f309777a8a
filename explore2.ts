import { connect } from 'node:net'
import { startGateway } from './services/gateway/src/testing.ts'
const g = await startGateway()
const port = Number(new URL(g.origin).port)
console.log(g.app.server.maxHeadersCount, g.app.server.headersTimeout, g.app.server.requestTimeout, g.app.server.keepAliveTimeout, (g.app.server as any).maxRequestsPerSocket)
const raw = (bytes: string | Buffer, p = port) => new Promise<string>((res) => {
  const s = connect(p, '127.0.0.1'); let out = ''
  s.on('data', (d) => (out += d)); s.on('close', () => res(out)); s.on('error', () => {})
  s.write(bytes); setTimeout(() => { s.destroy(); res(out + '<open>') }, 400)
})
for (const n of [100, 300, 500, 600, 700, 800, 900, 1000, 1900]) {
  for (const name of ['h', 'longer-header-name']) {
  const out = await raw(`GET /v2/organizations HTTP/1.1\r\nhost: x\r\n${Array.from({ length: n }, (_, i) => `${name}${i}: 1\r\n`).join('')}x-api-key: ${g.key}\r\n\r\n`)
  console.log(n, name, out.split('\r\n')[0])
}}
process.exit()
