import { ServiceConfig, StoreUrl } from '@fms/service-kit/settings'

export const OrganizationsConfig = ServiceConfig.extend({
  /** URL of the directory store: `sqlite:PATH` or `mongodb://HOST:PORT/DATABASE`. */
  DIRECTORY_STORE_URL: StoreUrl,
})
