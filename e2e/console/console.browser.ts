import { openDirectoryStore } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { publishable } from '../system.ts'
import { goToForm, screenshot, showJson } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, openConsole, signIn, given, read, edit, publish, remove } = withConsole()

describe('the console', () => {
  it('takes a form through its whole life', async () => {
    const account = await system().account({ role: 'owner' })
    await using opened = await signIn(account)
    const { page, problems, requests } = opened

    await page.getByRole('button', { name: 'New form' }).click()
    await page.getByLabel('Begin with').selectOption('feedback')
    await page.getByRole('button', { name: 'Create form' }).click()
    await page.getByRole('heading', { name: 'Customer feedback' }).waitFor()
    const publicId = /forms\/(\w+)\/edit/.exec(page.url())![1]!

    // A violation is shown at its field.
    await page.getByLabel('Name', { exact: true }).fill(' ')
    await page.locator('.violation', { hasText: 'white space' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Visitor feedback')
    await page
      .getByRole('button', { name: /How many stars/ })
      .first()
      .click()
    await page.getByLabel('Title').fill('How many stars?')
    await page.getByText('Theme', { exact: true }).click()
    await page.getByLabel('Buttons', { exact: true }).fill('#0f766e')
    await page.locator('.stage').getByRole('heading', { name: 'How many stars?' }).waitFor()
    await page.locator('.violation').waitFor({ state: 'detached' })
    await page.evaluate('scrollTo(0, 0)')
    await screenshot(page, 'edit')
    await showJson(opened)
    await page.locator('.cm-content').getByText('"How many stars?"').waitFor()
    await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await read(account, publicId)).toMatchObject({
      name: 'Visitor feedback',
      theme: { primaryColor: '#0f766e' },
    })

    await page.getByRole('link', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByLabel('4', { exact: true }).check()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('What should we do better?').fill('More tea')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('No', { exact: true }).check()
    await screenshot(page, 'preview')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('heading', { name: 'We are sorry' }).waitFor()

    await page.getByRole('link', { name: 'Publish' }).click()
    await page.getByLabel('Note').fill('First version')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published. Respondents').waitFor()
    await page.getByRole('link', { name: /\/f\/[A-Za-z0-9]{10}$/ }).waitFor()

    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: /^Remove Would you come/ }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Publish' }).click()
    await page.getByText('Breaking: answers to it stay with earlier replies.').waitFor()
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(true)
    await page.locator('.changes bdi', { hasText: 'Would you come again?' }).waitFor()
    await screenshot(page, 'publish')
    await page.getByLabel('Publish the breaking changes').check()
    await page.getByLabel('Note').fill('Shorter')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Nothing has changed since the last publish.').waitFor()

    await page.getByRole('link', { name: 'Revisions' }).click()
    await page.getByText('Shorter').waitFor()
    await page.getByLabel('Compare from revision 1').check()
    await page.getByLabel('Compare to revision 2').check()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('heading', { name: 'From revision 1 to revision 2' }).waitFor()
    await page.getByText('Breaking: answers to it stay with earlier replies.').waitFor()
    await page.locator('.changes bdi', { hasText: 'Would you come again?' }).waitFor()
    await page.getByRole('link', { name: 'Revisions' }).first().click()
    await page.getByRole('button', { name: 'Roll back to revision 1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('heading', { name: 'Publish: Visitor feedback' }).waitFor()
    expect((await read(account, publicId)).steps).toHaveLength(6)

    await page.getByRole('button', { name: 'Unpublish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unpublish' }).click()
    await page.getByText('Taken down.').waitFor()
    expect((await read(account, publicId)).live).toBe(false)

    await page.getByRole('navigation', { name: 'Form' }).getByRole('link', { name: 'Activity' }).click()
    await page.getByText('Rolled back').waitFor()
    await edit(account, publicId, { tone: 'calm' })
    await page.locator('.events li', { hasText: 'tone' }).waitFor()

    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Delete form' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete form' }).click()
    await page.getByText('No forms here.').waitFor()

    await page.getByRole('link', { name: 'Deleted forms' }).click()
    await page.getByRole('button', { name: 'Bring back Visitor feedback' }).click()
    await page.getByText('Visitor feedback is back, as it was.').waitFor()
    const restored = await read(account, publicId)
    expect(restored).toMatchObject({ name: 'Visitor feedback', tone: 'calm' })
    await remove(account, publicId)
    await page.reload()
    await page.getByRole('button', { name: 'Remove for good: Visitor feedback' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove for good' }).click()
    await page.getByText('There are no deleted forms.').waitFor()

    expect(problems).toEqual([])
    expect(requests.filter((request) => !/^\w+ \/v2\//.test(request))).toEqual([])
  })

  it('shows its first page without a request to the API', async () => {
    await using opened = await openConsole()
    await opened.page.getByLabel('API key').waitFor()

    expect(opened.requests).not.toEqual([])
    expect(opened.requests.filter((request) => !request.startsWith('GET /v2/console'))).toEqual([])
  })

  it('lists forms, and finds them as one types', async () => {
    const account = await system().account()
    const names = Array.from({ length: 30 }, (_, index) => `Form ${index + 1}`)
    for (const name of [...names, 'Tea party']) await given(account, { name })
    const first = await given(account, { name: 'Newest' })
    await publish(account, first.publicId)
    await using opened = await signIn(account)
    const { page } = opened
    const rows = page.locator('tbody tr')

    await page.getByText('32 forms').waitFor()
    await rows.filter({ hasText: 'Newest' }).locator('[data-state=live]').waitFor()
    await rows.filter({ hasText: 'Tea party' }).getByText('never published').waitFor()
    await rows.nth(24).locator('[data-state]').waitFor()
    await screenshot(page, 'forms')
    expect(await rows.count()).toBe(25)
    await page.getByRole('button', { name: 'Next page' }).press('Enter')
    await page.getByText('26 to 32').waitFor()
    expect(await rows.count()).toBe(7)
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Next page')
    await rows.first().getByRole('link').click()
    await page.getByLabel('Tone').waitFor()
    await page.goBack()
    await page.getByText('26 to 32').waitFor()
    await page.getByLabel('Search by name').fill('TEA')
    await page.getByText('1 form', { exact: true }).waitFor()
    expect(await rows.innerText()).toContain('Tea party')
    await page.reload()
    await page.getByText('1 form', { exact: true }).waitFor()
    expect(await page.getByLabel('Search by name').inputValue()).toBe('TEA')
    await page.getByLabel('Search by name').fill('')
    await page.getByLabel('Live').selectOption('live')
    await page.getByText('Tea party').waitFor({ state: 'detached' })
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('Newest')])
    await page.getByRole('button', { name: 'Duplicate Newest' }).click()
    await page.getByRole('heading', { name: 'Copy of Newest' }).waitFor()
  })

  it('shows the name and the link of a live form on each of its pages', async () => {
    const account = await system().account()
    const { publicId, publicUrl } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    const link = page.getByRole('link', { name: publicUrl })
    await goToForm(opened, account, publicId)
    await page.getByLabel('Tone').waitFor()
    expect(await link.count()).toBe(0)

    await publish(account, publicId)
    await page.reload()
    const pages = {
      edit: 'Customer feedback',
      preview: 'Preview: Customer feedback',
      publish: 'Publish: Customer feedback',
      revisions: 'Revisions: Customer feedback',
      'compare/live/draft': 'Customer feedback: from revision 1 to the draft',
      'form-activity': 'Activity: Customer feedback',
      'use-it': 'Use it: Customer feedback',
    }
    for (const [name, heading] of Object.entries(pages)) {
      await goToForm(opened, account, publicId, name)
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      await expect.poll(() => page.title(), { message: name }).toContain('Customer feedback')
      await link.waitFor()
      expect(await link.getAttribute('href')).toBe(publicUrl)
    }
  })

  it('imports a form from a file of JSON', async () => {
    const account = await system().account()
    const form = await given(account, { name: 'Exported', tone: 'calm' })
    await using opened = await signIn(account)
    const { page } = opened

    await page.getByRole('button', { name: 'New form' }).click()
    const file = page.getByLabel('Or import a JSON file')
    await file.setInputFiles({ name: 'form.json', mimeType: 'application/json', buffer: Buffer.from('[]') })
    const noJson = page.getByText('The file is not a JSON object.')
    await noJson.waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Imported')
    await noJson.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create form' }).click()
    await noJson.waitFor()
    const invalid = { name: 'form.json', mimeType: 'application/json', buffer: Buffer.from('{"tone":1}') }
    await file.setInputFiles(invalid)
    await page.getByRole('button', { name: 'Create form' }).click()
    const refusal = page.getByRole('alert')
    await refusal.getByText('Correct the fields below.').waitFor()
    await refusal.getByText('INVALID_REQUEST').waitFor()
    await refusal.getByRole('listitem').getByText('form.tone').waitFor()
    const buffer = Buffer.from(JSON.stringify(form))
    await file.setInputFiles({ name: 'form.json', mimeType: 'application/json', buffer })
    await page.getByRole('button', { name: 'Create form' }).click()
    await page.getByRole('heading', { name: 'Imported' }).waitFor()

    const publicId = /forms\/(\w+)\/edit/.exec(page.url())![1]!
    expect(publicId).not.toBe(form.publicId)
    expect(await read(account, publicId)).toMatchObject({ name: 'Imported', tone: 'calm', steps: form.steps })
  })

  it('shows what somebody else changed meanwhile, and merges both', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)

    await page.getByLabel('Name', { exact: true }).fill('Mine')
    await page.getByLabel('Description').first().fill('By me')
    const steps = publishable().steps.toSpliced(2, 0, { type: 'text', key: 'why', title: 'Why?' })
    await edit(account, publicId, { name: 'Theirs', tone: 'calm', steps })
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this form' })
    await dialog.getByText('You both changed one value').waitFor()
    const theirChanges = dialog.locator('section', { hasText: 'They changed' })
    await theirChanges.locator('li', { hasText: 'tone' }).locator('ins', { hasText: 'calm' }).waitFor()
    await theirChanges
      .locator('li', { hasText: 'Question Why? added' })
      .locator('bdi', { hasText: 'Why?' })
      .waitFor()
    await dialog.getByText('“Keep mine” discards everything that they changed').waitFor()
    await screenshot(page, 'conflict')
    expect((await read(account, publicId)).name).toBe('Theirs')
    await dialog.getByRole('radio', { name: /Theirs/ }).check()
    await dialog.getByRole('button', { name: 'Merge both' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()

    expect(await read(account, publicId)).toMatchObject({
      name: 'Theirs',
      description: 'By me',
      tone: 'calm',
      steps,
    })
  })

  it.each([
    ['Keep mine', { name: 'Mine', tone: 'professional' }],
    ['Take theirs', { name: 'Customer feedback', tone: 'calm' }],
  ])('resolves a lost race by “%s”', async (choice, expected) => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)

    await page.getByLabel('Name', { exact: true }).fill('Mine')
    await edit(account, publicId, { tone: 'calm' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: choice }).click()
    const save = page.getByRole('button', { name: 'Save' })
    if (choice === 'Keep mine') {
      await save.click()
      await page.getByText('Saved', { exact: true }).waitFor()
    } else expect(await save.isDisabled()).toBe(true)

    expect(await read(account, publicId)).toMatchObject(expected)
  })

  it('keeps what was typed when the tab closes, and says when the form has changed since', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    await goToForm(opened, account, publicId)
    await opened.page.getByLabel('Name', { exact: true }).fill('Typed in a closed tab')
    const closed = opened.page.waitForEvent('close')
    await opened.page.close({ runBeforeUnload: true })
    await closed
    const page = await opened.context.newPage()
    await page.goto(`${system().baseUrl}/console`)
    // Another tab: the key was that of the closed one.
    await page.getByLabel('API key').fill(account.apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Customer feedback' }).click()
    await page.getByText('These are your unsaved changes from before.').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed in a closed tab')

    await edit(account, publicId, { tone: 'calm' })
    await page.reload()
    await page.getByText('The form has been changed since').waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await expect.poll(() => page.getByLabel('Tone').inputValue()).toBe('calm')
  })

  it('deletes a form that somebody else has changed only once it was read again', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    await page.getByLabel('Tone').waitFor()
    await edit(account, publicId, { tone: 'calm' })
    const dialog = page.getByRole('dialog')
    const confirm = async () => {
      await page.getByRole('button', { name: 'Delete form' }).click()
      await dialog.getByRole('button', { name: 'Delete form' }).click()
    }
    await confirm()
    await dialog.getByText('FORM_MOVED').waitFor()
    await dialog.getByRole('button', { name: 'Read the form again' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('Tone').inputValue()).toBe('calm')

    await confirm()
    await page.getByText('No forms here.').waitFor()
  })

  it('asks before signing out deletes what was typed, also just now in a large form', async () => {
    const account = await system().account()
    const step = { type: 'text', description: 'x'.repeat(1_000) }
    const steps = Array.from({ length: 100 }, (_, index) => ({ ...step, key: `q${index}` }))
    const { publicId } = await given(account, { steps })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    const storedEdits = () =>
      page.evaluate<string[]>(`Object.keys(localStorage).filter((name) => name.includes('edit'))`)
    await page.getByLabel('Name', { exact: true }).waitFor()

    // Both at once: a large form is stored only after a pause in the typing.
    await page.evaluate(`(() => {
      const name = document.querySelector('.form-fields input')
      name.value = 'Private'
      name.dispatchEvent(new InputEvent('input', { bubbles: true }))
      const buttons = [...document.querySelectorAll('button')]
      buttons.find(({ textContent }) => textContent === 'Sign out').click()
    })()`)
    await page.getByText('Unsaved changes of one form').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    expect(await storedEdits()).toEqual([])
  })

  it('asks for a new key when the key is revoked, and then continues with what was typed', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    await page.getByLabel('Name', { exact: true }).fill('Not lost')
    await using directory = await openDirectoryStore(system().directoryStoreUrl)
    const key = (await directory.listKeys()).find(({ userId }) => userId === account.userId)!
    await directory.revokeKey(key.keyId)

    // The checks of the editor meet the revocation within a second.
    await expect
      .poll(
        async () => {
          if (await page.getByText('Your key was revoked or has expired').isVisible()) return true
          await page.getByLabel('Name', { exact: true }).press('x')
          return false
        },
        { interval: 1_000, timeout: 20_000 },
      )
      .toBe(true)
    const { key: apiKey } = await directory.createKey({
      userId: account.userId,
      name: 'New',
      readOnly: false,
    })
    await page.getByLabel('API key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('These are your unsaved changes from before.').waitFor()

    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toMatch(/^Not lost/)
  })

  it('says that there is no connection, keeps the edit, and saves it by itself when the connection is back', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page, context, problems } = opened
    await page.route('**/json-editor-*.js', (request) => request.abort())
    await goToForm(opened, account, publicId)
    await page.getByLabel('Show JSON').check()
    await page.getByText('The JSON editor could not be loaded.').waitFor()
    await page.unroute('**/json-editor-*.js')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.cm-content').waitFor()
    expect(problems).toEqual([])

    await context.setOffline(true)
    await page.getByText('No connection to the service.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Typed offline')
    await page.getByRole('button', { name: 'Save' }).click()
    const error = page.locator('.sticky').getByText('The service did not respond.')
    await error.waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Typed offline, too')
    await page.getByLabel('Tone').scrollIntoViewIfNeeded()
    await error.waitFor()
    await context.setOffline(false)
    await page.getByText('Saved', { exact: true }).waitFor()
    await error.waitFor({ state: 'detached' })
    await page.getByText('No connection to the service.').waitFor({ state: 'detached' })

    expect((await read(account, publicId)).name).toBe('Typed offline, too')
  })

  it('completes JSON, and shows violations in it', async () => {
    const account = await system().account()
    const { publicId } = await given(account, { steps: [] })
    await using opened = await signIn(account)
    const { page, problems } = opened
    await goToForm(opened, account, publicId)
    const json = page.locator('.cm-content')
    await showJson(opened)

    await json.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{"name": "", "type": "structured"}')
    await json.locator('.cm-lintRange-error', { hasText: '""' }).waitFor()
    await page.locator('.form-fields .violation', { hasText: '1 to 200' }).waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{"name": "By JSON", ')
    await page.getByText('The JSON is incomplete.').waitFor()
    await page.keyboard.type('"t')
    await page.locator('.cm-completionLabel', { hasText: 'theme' }).waitFor()
    await page.keyboard.press('Escape')
    while (await page.getByText('The JSON is incomplete.').isVisible()) await page.keyboard.press('Control+z')
    await page.reload()
    await json.waitFor()

    expect(problems).toEqual([])
  })
})
