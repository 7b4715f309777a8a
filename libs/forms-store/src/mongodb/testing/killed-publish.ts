/** `node killed-publish.ts URL ORGANIZATION FORM COMMAND` publishes a form, and kills itself right before the commit. */
import { snapshot } from '../../contract/given.ts'
import { MongoFormsStore } from '../forms-store.ts'

const [url, organizationId, formRef, commandId] = process.argv.slice(2) as [string, string, string, string]
const store = new MongoFormsStore(url, { clears: false })
await store.publish({ organizationId, formRef }, commandId, snapshot, () =>
  process.kill(process.pid, 'SIGKILL'),
)
