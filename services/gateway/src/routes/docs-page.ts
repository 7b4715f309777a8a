import { hash } from 'node:crypto'
import type { AddRoute } from '@fms/service-kit'
import { fastify } from 'fastify'
import { createStaticDocument, type StaticDocument, serveDocument } from './static-document.ts'

/** Paths are relative to `/v2/docs`, so that the page also works behind a proxy that adds a prefix. */
const start = `Scalar.createApiReference('#app', ${JSON.stringify({
  url: 'openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})})`

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Form management API</title>
    <link rel="icon" href="data:,">
    <link rel="alternate" type="text/plain" href="../llms.txt" title="For programs">
  </head>
  <body>
    <div id="app"></div>
    <script src="docs/scalar.js"></script>
    <script>${start}</script>
  </body>
</html>
`

/** Allows the two scripts above, inline styles, which Scalar adds, and requests to this gateway. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${hash('sha256', start, 'base64')}'`,
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The API reference page: renders the OpenAPI document and sends requests with the reader's key. */
export const docsPage: AddRoute = (app) => {
  const html = () => createStaticDocument('text/html; charset=utf-8', 'public, max-age=300', page)
  const headers = { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' }
  serveDocument(app, '/docs', html, headers)
  app.get('/docs/', async (_, reply) => reply.redirect('../docs', 302))
  serveDocument(app, '/docs/scalar.js', readScript)
}

/** Scalar's compressed script (4 MB), which the package exposes only as a route. */
const readScript = async (): Promise<StaticDocument> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: 'openapi.json' } })
  const { rawPayload } = await server.inject('/docs/js/scalar.js')
  await server.close()
  return createStaticDocument('text/javascript; charset=utf-8', 'public, max-age=3600', rawPayload)
}
