import { ServiceConfig } from '@fms/service-kit'
import { z } from 'zod'

/** The environment of the organizations service. */
export const OrganizationsConfig = ServiceConfig.extend({
  /** URL of the directory store: `sqlite:PATH` or `mongodb://HOST:PORT/DATABASE`. */
  DIRECTORY_STORE_URL: z.string({ error: 'is required: the store, such as sqlite:.data/directory.db' }),
})
export type OrganizationsConfig = z.infer<typeof OrganizationsConfig>
