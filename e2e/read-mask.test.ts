import { cutToMask } from '@fms/testkit/cut-to-mask'
import { expect, it } from 'vitest'
import { sharedSystem } from './shared-system.ts'
import { publishable } from './system.ts'

const system = await sharedSystem()

it('a readMask cuts every read and list of forms and revisions, through the gateway', async () => {
  const account = await system.account()
  const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
  await system.call(account, 'POST', `/${form.path}/publish`)
  const ofForm = ['*', 'name', 'path,live,theme.primaryColor', 'steps,i18n.sourceLocale']
  const ofRevision = ['*', 'path', 'form.name,alternateIds', 'form.theme.primaryColor,form.steps']
  const alone = `/organizations/-/forms/${form.publicId}`

  for (const [path, masks] of [
    [`/${form.path}`, ofForm],
    [alone, ofForm],
    [`/${form.path}/revisions/live`, ofRevision],
    [`${alone}/revisions/live`, ofRevision],
  ] as const) {
    const whole = await system.call(account, 'GET', path)
    for (const mask of masks) {
      const { body, headers } = await system.call(account, 'GET', `${path}?readMask=${mask}`)
      expect(body).toEqual(cutToMask(whole.body, mask))
      expect(headers.get('etag')).toBe(whole.headers.get('etag'))
    }
    expect((await system.call(account, 'GET', `${path}?readMask=nmae`)).status).toBe(400)
  }
  for (const [path, name, masks] of [
    [account.forms, 'forms', ofForm],
    [`/${form.path}/revisions`, 'revisions', ofRevision],
  ] as const) {
    const { body: whole } = await system.call(account, 'GET', path)
    for (const mask of masks) {
      const { body } = await system.call(account, 'GET', `${path}?readMask=${mask}`)
      const cut = whole[name].map((item: object) => cutToMask(item, mask))
      expect(body).toEqual({ ...whole, [name]: cut })
    }
    expect((await system.call(account, 'GET', `${path}?readMask=nmae`)).status).toBe(400)
  }
})
