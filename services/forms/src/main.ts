import { createPageTokens } from '@fms/aip'
import { openFormsStore } from '@fms/forms-store'
import { run } from '@fms/service-kit'
import { createFormsApp } from './app.ts'
import { FormsConfig } from './config.ts'

await run('forms', FormsConfig, async (config, logger) => {
  const forms = await openFormsStore(config.FORMS_STORE_URL)
  const app = createFormsApp({
    logger,
    internalSecrets: [config.INTERNAL_SECRET],
    forms,
    publicFormBaseUrl: config.PUBLIC_FORM_BASE_URL,
    pageTokens: createPageTokens([config.INTERNAL_SECRET]),
    now: () => new Date(),
  })
  app.addHook('onClose', () => forms.close())
  return app
})
