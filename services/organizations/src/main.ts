import { createPageTokens } from '@fms/aip'
import { openDirectoryStore } from '@fms/directory-store'
import { internalSecretsOf, run } from '@fms/service-kit'
import { createOrganizationsApp } from './app.ts'
import { OrganizationsConfig } from './config.ts'

await run('organizations', OrganizationsConfig, async (config, logger) => {
  const internalSecrets = internalSecretsOf(config)
  const directory = await openDirectoryStore(config.DIRECTORY_STORE_URL)
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
