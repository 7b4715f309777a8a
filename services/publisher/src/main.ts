import { openFormsStore } from '@fms/forms-store'
import { connectNats, measureStore, run, toQuota } from '@fms/service-kit'
import { createPublisherApp } from './app.ts'
import { PublisherConfig } from './config.ts'

await run('publisher', PublisherConfig, async (config, logger) => {
  const url = config.FORMS_STORE_URL
  return createPublisherApp({
    logger,
    nats: await connectNats(config.NATS_URL, 'publisher'),
    forms: measureStore('forms', url, await openFormsStore(url, { quota: toQuota(config) }), logger),
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    publicFormBaseUrl: config.PUBLIC_FORM_BASE_URL,
    now: () => new Date(),
  })
})
