import { openDirectoryStore } from '@fms/directory-store'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Account } from '../system.ts'
import { accessibilityProblems, goToForm, screenshot, showJson } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, openConsole, signIn, given, publish, remove } = withConsole()

const loginLink = async ({ userId }: Account): Promise<string> => {
  await using directory = await openDirectoryStore(system().directoryStoreUrl)
  const code = await directory.createLoginCode(userId, new Date(Date.now() + 60_000))
  return `${system().baseUrl}/console#code=${code}`
}

/** Opens a login link, and agrees to sign in. */
const openLink = async (page: Page, link: string) => {
  await page.goto(link)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Sign in as/ })
    .click()
}

const statusOf = async (apiKey: string) => (await system().call({ apiKey }, 'GET', '/whoami')).status

describe('a login link', () => {
  it('signs in once; the code leaves the URL, and signing out revokes the key', async () => {
    const account = await system().account()
    const link = await loginLink(account)
    await using opened = await openConsole()
    const { page, problems } = opened

    await openLink(page, link)
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    expect(page.url()).not.toContain('code')
    await page.goBack()
    expect(page.url()).not.toContain('code')
    await page.goForward()
    await page.reload()
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    const { apiKey } = await page.evaluate<{ apiKey: string }>(
      `JSON.parse(sessionStorage.getItem('fms-console-key'))`,
    )
    expect(await statusOf(apiKey)).toBe(200)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await expect.poll(() => statusOf(apiKey)).toBe(401)

    await using second = await openConsole()
    await second.page.goto(link)
    await second.page.getByText('LOGIN_CODE_INVALID').waitFor()
    expect(await second.page.locator('main').innerText()).not.toMatch(/formctl|npm|curl|terminal/)
    expect(second.page.url()).not.toContain('code')
    expect(problems).toEqual([])
  })

  it('names its user before it signs in, and stays valid if the answer is no', async () => {
    const account = await system().account()
    const { body: whoami } = await system().call(account, 'GET', '/whoami')
    const link = await loginLink(account)
    await using opened = await openConsole()
    const { page, problems } = opened
    const dialog = page.getByRole('dialog', { name: `Sign in as ${whoami.user.email}?` })

    await page.goto(link)
    await dialog.waitFor()
    expect(page.url()).not.toContain('code')
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await system().call(account, 'GET', '/keys')).body.totalSize).toBe(1)

    await page.goto('about:blank')
    await openLink(page, link)
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    expect(problems).toEqual([])
  })
})

describe('a login link in a tab with a session', () => {
  const keyOf = (page: Page) =>
    page.evaluate<string>(`JSON.parse(sessionStorage.getItem('fms-console-key')).apiKey`)

  it('replaces the session of the same user, and revokes its key', async () => {
    const account = await system().account()
    // One more than a page of the list.
    for (let number = 0; number < 26; number++) await given(account)
    await using opened = await openConsole()
    const { page } = opened
    await openLink(page, await loginLink(account))
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    const former = await keyOf(page)

    await page.goto(await loginLink(account))
    await expect.poll(() => keyOf(page)).not.toBe(former)
    await expect.poll(() => statusOf(former)).toBe(401)
    expect(await statusOf(await keyOf(page))).toBe(200)
    expect(await page.getByRole('dialog').count()).toBe(0)
    const nextPage = page.waitForRequest(/pageToken=/)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('26 to 26').waitFor()
    expect((await nextPage).headers()['x-api-key']).toBe(await keyOf(page))
  })

  it('leaves a form that was opened meanwhile to the next key', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page, problems } = opened
    await goToForm(opened, account, publicId)
    await page.getByLabel('Tone').waitFor()
    const isSent = Promise.withResolvers<void>()
    await page.route('**/v2/whoami', async (request) => {
      await isSent.promise
      await request.continue()
    })
    const former = await keyOf(page)
    await page.goto(await loginLink(account))
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    await page.goBack()
    await page.getByLabel('Tone').waitFor()
    isSent.resolve()
    await expect.poll(() => keyOf(page)).not.toBe(former)
    await page.getByRole('button', { name: 'Move Your rating up' }).click()
    await expect.poll(() => page.locator('.step-name bdi').first().innerText()).toBe('Your rating')

    expect(problems).toEqual([])
  })

  it('asks before it signs in another user, and ends the session that is replaced', async () => {
    const first = await system().account()
    const second = await system().account()
    await using opened = await openConsole()
    const { page, problems } = opened
    const dialog = page.getByRole('dialog', { name: 'Change the user?' })
    const user = page.locator('header .user')
    await openLink(page, await loginLink(first))
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    const email = await user.innerText()
    const former = await keyOf(page)
    const link = await loginLink(second)

    await page.goto(link)
    await dialog.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await keyOf(page)).toBe(former)
    expect(await user.innerText()).toBe(email)
    expect((await system().call(second, 'GET', '/keys')).body.totalSize).toBe(1)

    // Also when the link loads the page anew.
    await page.goto('about:blank')
    await openLink(page, link)
    await expect.poll(() => user.innerText()).not.toBe(email)
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Organization' }).inputValue())
      .toBe(second.slug)
    await expect.poll(() => statusOf(former)).toBe(401)
    expect(await statusOf(await keyOf(page))).toBe(200)
    expect(problems).toEqual([])
  })

  it('asks only about the last link, and still asks if the current key is rejected', async () => {
    const [first, second, third] = [
      await system().account(),
      await system().account(),
      await system().account(),
    ]
    await using opened = await openConsole()
    const { page } = opened
    await openLink(page, await loginLink(first))
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()

    await page.goto(await loginLink(second))
    const choice = page.getByRole('dialog').getByRole('button', { name: /^Sign in as/ })
    const unanswered = await choice.innerText()
    await page.goto(await loginLink(third))
    await expect.poll(() => choice.innerText()).not.toBe(unanswered)

    await page.route('**/v2/keys?*', (request) => request.fulfill({ status: 401, json: {} }), { times: 1 })
    await page.evaluate(`location.hash = '#/keys'`)
    await page.getByRole('dialog', { name: /^Sign in as .*\?$/ }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await choice.click()
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Organization' }).inputValue())
      .toBe(third.slug)
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})

describe('the next user of a tab', () => {
  it('is not offered a login link of the former user that had no response', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.route('**/v2/sessions', (request) => request.fulfill({ status: 503, json: {} }))
    await page.goto(await loginLink(account))
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()

    const heading = page.getByRole('heading', { level: 1, name: /^(Sign in|No connection)/ })
    expect(await heading.innerText()).toBe('Sign in to Forms')
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('goes back to the list without the search of the former user', async () => {
    const account = await system().account()
    await given(account)
    const { apiKey } = await system().account({ in: account })
    await using opened = await signIn(account)
    const { page } = opened
    const search = page.getByLabel('Search by name')
    await search.fill('Private')
    await page.getByText('0 forms').waitFor()
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.goBack()
    await expect.poll(() => search.inputValue()).toBe('Private')
    await page.goForward()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.goBack()
    await search.waitFor()
    expect(await search.inputValue()).toBe('')
  })
})

describe('the keys of a user', () => {
  it('are created, rotated and revoked', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    const secret = page.getByRole('dialog').getByLabel('API key')

    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Website')
    await page.getByLabel('Read-only').check()
    await page.getByRole('button', { name: 'Create key' }).click()
    const created = await secret.inputValue()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await statusOf(created)).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    await page
      .getByRole('row', { name: /Website/ })
      .getByText('read-only')
      .waitFor()
    await screenshot(page, 'keys')
    expect(await accessibilityProblems(page)).toEqual([])

    await page.getByRole('button', { name: 'Rotate Website' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const rotated = await secret.inputValue()
    expect(await statusOf(rotated)).toBe(200)
    await expect.poll(() => statusOf(created)).toBe(401)
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: 'Revoke Website' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /Website/ }).waitFor({ state: 'detached' })
    await expect.poll(() => statusOf(rotated)).toBe(401)
  })

  it('are shown again after a lost response, and their secrets outlast Back and can be copied over plain HTTP', async () => {
    const account = await system().account()
    await using opened = await signIn(account, { permissions: ['clipboard-read'] })
    const { page } = opened
    // As on a page over plain HTTP.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    const name = page.getByLabel('Name', { exact: true })
    const dialog = page.getByRole('dialog')
    await page.getByRole('link', { name: 'Keys' }).click()

    await page.route(
      '**/v2/keys',
      async (request) => {
        await request.fetch()
        await request.abort()
      },
      { times: 1 },
    )
    await name.fill('Lost')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('KEY_ALREADY_CREATED').waitFor()
    await page.getByRole('row', { name: /Lost/ }).waitFor()

    await name.fill('Website')
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = await dialog.getByLabel('API key').inputValue()
    await page.goBack()
    await page.getByRole('heading', { name: 'Forms', exact: true, includeHidden: true }).waitFor()
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByLabel('Search by name').press('Control+v')
    await expect.poll(() => page.getByLabel('Search by name').inputValue()).toBe(secret)
  })

  it('include that of the session: it is rotated without signing in again, and revoked with the session', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.getByRole('link', { name: 'Keys' }).click()

    await page.getByRole('button', { name: 'Rotate Test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const rotated = await page.getByRole('dialog').getByLabel('API key').inputValue()
    await page.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => statusOf(account.apiKey)).toBe(401)

    await page.getByText(rotated.slice(0, 'fms_'.length + 8)).waitFor()
    await page.getByRole('button', { name: 'Revoke Test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect.poll(() => statusOf(rotated)).toBe(401)
  })
})

describe('a read-only key', () => {
  it('is only offered a rotation without an overlap', async () => {
    const account = await system().account({ role: 'owner', readOnly: true })
    await using opened = await signIn(account)
    const { page } = opened
    const dialog = page.getByRole('dialog')
    await page.getByRole('link', { name: 'Keys' }).click()

    await page.getByRole('button', { name: 'Rotate Test' }).click()
    await expect.poll(() => dialog.getByRole('option').count()).toBe(1)
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    expect(await statusOf(await dialog.getByLabel('API key').inputValue())).toBe(200)
  })
})

describe.each([
  ['a viewer', { role: 'viewer' }],
  ['the owner of a read-only key', { role: 'owner', readOnly: true }],
] as const)('%s', (_, access) => {
  it('reads everything, and is offered no writes', async () => {
    const editor = await system().account()
    const form = await given(editor)
    await publish(editor, form.publicId, 'By the editor')
    await remove(editor, (await given(editor, { name: 'Thrown away' })).publicId)
    await using opened = await signIn(await system().account({ ...access, in: editor }))
    const { page } = opened
    const writes = page.getByRole('button', {
      name: /New form|Duplicate|Save|Delete|Add step|Remove|^Publish$|Unpublish|Roll back|Bring back/,
    })

    await page.getByRole('link', { name: 'Customer feedback' }).waitFor()
    expect(await writes.count()).toBe(0)
    await goToForm(opened, editor, form.publicId)
    await page.getByText('You may read this form but not change it').waitFor()
    await showJson(opened)
    expect(await writes.count()).toBe(0)
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true)
    expect(await page.locator('.cm-content').getAttribute('contenteditable')).toBe('false')
    await goToForm(opened, editor, form.publicId, 'publish')
    await page.getByText('Nothing has changed since the last publish.').waitFor()
    expect(await writes.count()).toBe(0)
    await goToForm(opened, editor, form.publicId, 'revisions')
    await page.getByText('By the editor').waitFor()
    expect(await writes.count()).toBe(0)
    await page.getByRole('link', { name: 'Deleted forms' }).click()
    await page.getByText('Thrown away').waitFor()
    expect(await writes.count()).toBe(0)
  })
})
