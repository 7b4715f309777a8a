import { NatsUrl, PublicFormBaseUrl, QuotaConfig, ServiceConfig, StoreUrl } from '@fms/service-kit/settings'
import { z } from 'zod'

export const FormsConfig = ServiceConfig.extend({
  ...QuotaConfig.shape,
  /** The store of drafts and revisions: `sqlite:PATH` or `mongodb://…/DATABASE`. */
  FORMS_STORE_URL: StoreUrl,
  /** Precedes a form's public id in its `publicUrl`. */
  PUBLIC_FORM_BASE_URL: PublicFormBaseUrl,
  /** Time limit of a list, in milliseconds. */
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(2_000),
  /** How long a deleted form can be restored, in days; 0 removes it at once. */
  DELETED_FORMS_DAYS: z.coerce.number().int().min(0).max(3_650).default(30),
  /** The NATS server that delivers events of replies: `nats://user:password@host:port`. */
  NATS_URL: NatsUrl,
})
