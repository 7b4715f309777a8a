import { createPageTokens } from '@fms/aip'
import { openDirectoryStore } from '@fms/directory-store'
import { run } from '@fms/service-kit'
import { createOrganizationsApp } from './app.ts'
import { OrganizationsConfig } from './config.ts'

await run('organizations', OrganizationsConfig, async (config, logger) => {
  const directory = await openDirectoryStore(config.DIRECTORY_STORE_URL)
  const app = createOrganizationsApp({
    logger,
    internalSecrets: [config.INTERNAL_SECRET],
    directory,
    pageTokens: createPageTokens([config.INTERNAL_SECRET]),
    now: () => new Date(),
  })
  app.addHook('onClose', () => directory.close())
  return app
})
