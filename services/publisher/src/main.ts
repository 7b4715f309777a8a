import { EventEmitter } from 'node:events'
import { openFormsStore } from '@fms/forms-store'
import { connectNats, countRecordedEvent, measureStore, run, toQuota } from '@fms/service-kit'
import { createPublisherApp } from './app.ts'
import { PublisherConfig } from './config.ts'

await run('publisher', PublisherConfig, async (config, logger) => {
  const url = config.FORMS_STORE_URL
  const changes = new EventEmitter<{ recorded: [] }>()
  const store = await openFormsStore(url, {
    quota: toQuota(config),
    onRecorded: (type) => {
      countRecordedEvent(type)
      changes.emit('recorded')
    },
  })
  return createPublisherApp({
    logger,
    nats: await connectNats(config.NATS_URL, 'publisher', { logger }),
    forms: measureStore('forms', url, store, logger, ['events', 'revisionGrowth']),
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    eventsConfig: config,
    changes,
    publicFormBaseUrl: config.PUBLIC_FORM_BASE_URL,
    now: () => new Date(),
  })
})
