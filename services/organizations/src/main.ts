import { createPageTokens } from '@fms/aip'
import { openDirectoryStore } from '@fms/directory-store'
import { internalSecretsOf, measureStore, run } from '@fms/service-kit'
import { createOrganizationsApp } from './app.ts'
import { OrganizationsConfig } from './config.ts'

await run('organizations', OrganizationsConfig, async (config, logger) => {
  const internalSecrets = internalSecretsOf(config)
  const { DIRECTORY_STORE_URL: url } = config
  const directory = measureStore('directory', url, await openDirectoryStore(url), logger)
  const app = createOrganizationsApp({
    logger,
    internalSecrets,
    directory,
    pageTokens: createPageTokens(internalSecrets),
    now: () => new Date(),
  })
  app.addHook('onClose', () => directory.close())
  return app
})
