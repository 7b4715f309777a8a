import { join } from 'node:path'
import { FormDraft } from '@fms/contracts'
import { defineConfig } from 'vite'
import { z } from 'zod'

/** A gateway to develop against: `GATEWAY_URL=http://127.0.0.1:8080 npm run dev -w console`. */
const gatewayUrl = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/v2/console/',
  define: { formSchema: JSON.stringify(z.toJSONSchema(FormDraft, { io: 'input' })) },
  build: {
    target: 'es2022',
    // The content security policy refuses data: URLs for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    rolldownOptions: { input: ['index.html', 'form.html'].map((page) => join(import.meta.dirname, page)) },
    // The notices that the licences of the bundled packages require.
    license: { fileName: 'licences.md' },
    reportCompressedSize: false,
  },
  // Relative, so that the pages also work behind a proxy that adds a prefix. The console is at /v2/console, without a slash
  // at its end, and a form at /f/{publicId}.
  experimental: {
    renderBuiltUrl: (file, { hostId, hostType }) => {
      if (hostType !== 'html') return { relative: true }
      return hostId.endsWith('index.html') ? `console/${file}` : file
    },
  },
  server: { proxy: { '^/v2/(?!console)': gatewayUrl } },
})
