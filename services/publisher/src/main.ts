import { openFormsStore } from '@fms/forms-store'
import { connectNats, measureStore, run } from '@fms/service-kit'
import { createPublisherApp } from './app.ts'
import { PublisherConfig } from './config.ts'

await run('publisher', PublisherConfig, async (config, logger) =>
  createPublisherApp({
    logger,
    nats: await connectNats(config.NATS_URL, 'publisher'),
    forms: measureStore('forms', config.FORMS_STORE_URL, await openFormsStore(config.FORMS_STORE_URL)),
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    publicFormBaseUrl: config.PUBLIC_FORM_BASE_URL,
    now: () => new Date(),
  }),
)
