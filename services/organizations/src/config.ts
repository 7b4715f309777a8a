import { ServiceConfig } from '@fms/service-kit'
import { z } from 'zod'

export const OrganizationsConfig = ServiceConfig.extend({
  /** Where users, organizations, members and keys live: `sqlite:PATH`. */
  DIRECTORY_STORE_URL: z.string({ error: 'is required: the store, such as sqlite:.data/directory.db' }),
})
export type OrganizationsConfig = z.infer<typeof OrganizationsConfig>
