import { connect } from 'node:net'
import { startGateway } from './services/gateway/src/testing.ts'
const g = await startGateway()
const port = Number(new URL(g.origin).port)
const raw = (bytes: string | Buffer, p = port) => new Promise<string>((res) => {
  const s = connect(p, '127.0.0.1'); let out = ''
  s.on('data', (d) => (out += d)); s.on('close', () => res(out)); s.on('error', () => {})
  s.write(bytes); setTimeout(() => { s.destroy(); res(out + '<open>') }, 400)
})
const k = `host: x\r\nx-api-key: ${g.key}\r\n`
const post = (h: string, b: string) => `POST /v2/organizations/acme/forms HTTP/1.1\r\n${k}content-type: application/json\r\n${h}\r\n${b}`
const smuggled = `GET /v2/organizations/acme/forms/SMUGGLED HTTP/1.1\r\n${k}\r\n`
const cases: Record<string, string> = {
  'CL+TE': post('content-length: 4\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
  'TE+CL': post('transfer-encoding: chunked\r\ncontent-length: 4\r\n', `5c\r\n${smuggled}0\r\n\r\n`),
  'two CL same': post('content-length: 2\r\ncontent-length: 2\r\n', '{}'),
  'two CL diff': post('content-length: 2\r\ncontent-length: 9\r\n', '{}'),
  'CL list': post('content-length: 2, 2\r\n', '{}'),
  'CL plus': post('content-length: +2\r\n', '{}'),
  'CL hex': post('content-length: 0x2\r\n', '{}'),
  'CL neg': post('content-length: -1\r\n', '{}'),
  'CL huge': post('content-length: 99999999999999999999999\r\n', '{}'),
  'obs-fold': post('x-a: b\r\n c\r\ncontent-length: 2\r\n', '{}'),
  'obs-fold TE': post('transfer-encoding:\r\n chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE chunked, identity': post('transfer-encoding: chunked, identity\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE identity': post('transfer-encoding: identity\r\ncontent-length: 2\r\n', '{}'),
  'TE gzip, chunked': post('transfer-encoding: gzip, chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE xchunked': post('transfer-encoding: xchunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE twice': post('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE vt': post('transfer-encoding: \x0bchunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'TE space colon': post('transfer-encoding : chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
  'CL space colon': post('content-length : 2\r\n', '{}'),
  'bare LF lines': post('content-length: 2\r\n', '{}').replaceAll('\r\n', '\n'),
  'bare LF one header': post('x-a: b\ncontent-length: 2\r\n', '{}'),
  'bare CR': post('x-a: b\rcontent-length: 2\r\n', '{}'),
  'chunk ext': post('transfer-encoding: chunked\r\n', '2;a=b\r\n{}\r\n0\r\n\r\n'),
  'chunk ext LF': post('transfer-encoding: chunked\r\n', '2;a\n{}\r\n0\r\n\r\n'),
  'chunk bare LF': post('transfer-encoding: chunked\r\n', '2\n{}\n0\n\n'),
  'chunk no CRLF after data': post('transfer-encoding: chunked\r\n', '2\r\n{}0\r\n\r\n'),
  'chunk 0x': post('transfer-encoding: chunked\r\n', '0x2\r\n{}\r\n0\r\n\r\n'),
  'chunk neg': post('transfer-encoding: chunked\r\n', '-2\r\n{}\r\n0\r\n\r\n'),
  'chunk overflow': post('transfer-encoding: chunked\r\n', '10000000000000002\r\n{}\r\n0\r\n\r\n'),
  'trailers': post('transfer-encoding: chunked\r\ntrailer: x-fms-identity\r\n', '2\r\n{}\r\n0\r\nx-fms-identity: forged\r\n\r\n'),
  'GET with body smuggle': `GET /v2/organizations/acme/forms HTTP/1.1\r\n${k}content-type: application/json\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
  'GET body no ct': `GET /v2/organizations/acme/forms HTTP/1.1\r\n${k}content-length: 2\r\n\r\n{}`,
  'HEAD body': `HEAD /v2/organizations/acme/forms HTTP/1.1\r\n${k}content-length: ${smuggled.length}\r\n\r\n${smuggled}`,
  'http/1.0': `GET /v2/organizations HTTP/1.0\r\nx-api-key: ${g.key}\r\n\r\n`,
  'http/1.0 TE': `POST /v2/organizations/acme/forms HTTP/1.0\r\nx-api-key: ${g.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'http/0.9': `GET /v2/organizations\r\n`,
  'http/2.0 ver': `GET /v2/organizations HTTP/2.0\r\n${k}\r\n`,
  'http/9.9 ver': `GET /v2/organizations HTTP/1.9\r\n${k}\r\n`,
  'h2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'tls': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'no host': `GET /v2/organizations HTTP/1.1\r\nx-api-key: ${g.key}\r\n\r\n`,
  'two hosts': `GET /v2/organizations HTTP/1.1\r\nhost: a\r\n${k}\r\n`,
  'absolute': `GET http://evil/v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'absolute forms': `GET http://127.0.0.1:1/v2/organizations/acme/forms/abc HTTP/1.1\r\n${k}\r\n`,
  'star': `OPTIONS * HTTP/1.1\r\n${k}\r\n`,
  'get star': `GET * HTTP/1.1\r\n${k}\r\n`,
  'connect': `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${k}\r\n`,
  'connect path': `CONNECT /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'trace': `TRACE /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'frob': `FROB /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'lower get': `get /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'purge': `PURGE /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'query method': `QUERY /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  'ws upgrade': `GET /v2/organizations/acme/forms HTTP/1.1\r\n${k}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n`,
  'h2c upgrade': `GET /v2/organizations/acme/forms HTTP/1.1\r\n${k}connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n`,
  'expect 100': post('expect: 100-continue\r\ncontent-length: 2\r\n', '{}'),
  'expect other': post('expect: 200-ok\r\ncontent-length: 2\r\n', '{}'),
  'huge url': `GET /v2/organizations/${'a'.repeat(70000)} HTTP/1.1\r\n${k}\r\n`,
  'null in path': `GET /v2/organizations/\0 HTTP/1.1\r\n${k}\r\n`,
  'utf8 in path': `GET /v2/organizations/é HTTP/1.1\r\n${k}\r\n`,
  'space in path': `GET /v2/organizations/a b HTTP/1.1\r\n${k}\r\n`,
  'tab in path': `GET /v2/organizations/a\tb HTTP/1.1\r\n${k}\r\n`,
  'null in header': `GET /v2/organizations HTTP/1.1\r\n${k}x-a: a\0b\r\n\r\n`,
  'bad hname': `GET /v2/organizations HTTP/1.1\r\n${k}x a: b\r\n\r\n`,
  'empty hname': `GET /v2/organizations HTTP/1.1\r\n${k}: b\r\n\r\n`,
  'lead crlf': `\r\n\r\nGET /v2/organizations HTTP/1.1\r\n${k}\r\n`,
  '2500 headers': `GET /v2/organizations HTTP/1.1\r\nhost: x\r\n${Array.from({ length: 2500 }, (_, i) => `h${i}: 1\r\n`).join('')}x-api-key: ${g.key}\r\n\r\n`,
  '1000 headers': `GET /v2/organizations HTTP/1.1\r\nhost: x\r\n${Array.from({ length: 1000 }, (_, i) => `h${i}: 1\r\n`).join('')}x-api-key: ${g.key}\r\n\r\n`,
  'gzip body': post('content-encoding: gzip\r\ncontent-length: 2\r\n', '{}'),
  'gzip identity': post('content-encoding: identity\r\ncontent-length: 2\r\n', '{}'),
}
for (const [name, bytes] of Object.entries(cases)) {
  g.forms.received.length = 0
  const out = await raw(bytes)
  const lines = [...out.matchAll(/^HTTP\/1.1 .*$/gm)].map(([l]) => l.trim())
  const reason = [...out.matchAll(/"reason":"(\w+)"/g)].map((m) => m[1])
  console.log(name.padEnd(26), lines.join(' | ') || JSON.stringify(out.slice(0, 50)), reason.join(','), out.endsWith('<open>') ? 'open' : 'closed', ' -> ', g.forms.received.map((r) => `${r.method} ${r.url.slice(-20)} ${r.body.slice(0, 20)}`).join(' ; '))
}
process.exit()
