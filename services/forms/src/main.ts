import { createPageTokens } from '@fms/aip'
import { repliesStream, replyCounterConsumer } from '@fms/contracts'
import { openFormsStore } from '@fms/forms-store'
import {
  closeNats,
  connectNats,
  consume,
  countRecordedEvent,
  internalSecretsOf,
  measureStore,
  run,
  toQuota,
  watchBacklog,
} from '@fms/service-kit'
import { createFormsApp } from './app.ts'
import { FormsConfig } from './config.ts'
import { createReplyConsumer, ensureReplies, replyConsumption } from './consumers/reply-recorded.ts'
import { reportBackups } from './report-backups.ts'
import { createRelayWaker } from './wake-relays.ts'

await run('forms', FormsConfig, async (config, logger) => {
  const internalSecrets = internalSecretsOf(config)
  const { FORMS_STORE_URL, SEARCH_TIMEOUT_MS, DELETED_FORMS_DAYS } = config
  // The service starts without NATS: reads and edits do not need it, and replies wait in the stream.
  const stop = new AbortController()
  const nats = connectNats(config.NATS_URL, 'forms', { logger, signal: stop.signal })
  const wakeRelays = createRelayWaker(nats)
  const store = await openFormsStore(FORMS_STORE_URL, {
    quota: toQuota(config),
    listTimeoutMs: SEARCH_TIMEOUT_MS,
    deletedFormsDays: DELETED_FORMS_DAYS,
    onRecorded: (type) => {
      countRecordedEvent(type)
      wakeRelays()
    },
  })
  reportBackups(FORMS_STORE_URL)
  const forms = measureStore('forms', FORMS_STORE_URL, store, logger, ['events'])
  const app = createFormsApp({
    logger,
    internalSecrets,
    forms,
    publicFormBaseUrl: config.PUBLIC_FORM_BASE_URL,
    pageTokens: createPageTokens(internalSecrets),
    now: () => new Date(),
  })
  const consumption = consume(
    async () => ensureReplies(await nats),
    createReplyConsumer(forms, logger),
    logger,
    replyConsumption,
  )
  nats
    .then((connection) => watchBacklog(connection, repliesStream.name, replyCounterConsumer))
    .catch(() => {})
  app.addHook('onClose', async () => {
    stop.abort()
    await consumption.stop()
    const connection = await nats.catch(() => undefined)
    if (connection) await closeNats(connection)
    await forms.close()
  })
  return app
})
