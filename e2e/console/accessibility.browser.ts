import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Account, publishable } from '../system.ts'
import { accessibilityProblems, type ConsolePage, goToForm, isTooWide, showJson } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, openConsole, signIn, given, read, edit, publish, remove } = withConsole()
let account: Account
/** A form with a live revision, a breaking change and a violation of the checks of a publish. */
let publicId: string

beforeAll(async () => {
  account = await system().account({ role: 'owner' })
  publicId = (await given(account)).publicId
  await publish(account, publicId, 'First')
  await edit(account, publicId, { name: 'Second', steps: publishable().steps.slice(0, 1) })
  await remove(account, (await given(account, { name: 'Thrown away' })).publicId)
})

/** Every page, in a state that shows all of its parts. */
const pages: [string, (opened: ConsolePage) => Promise<unknown>][] = [
  ['forms', ({ page }) => page.getByText('draft differs').waitFor()],
  [
    'edit',
    async (opened) => {
      await goToForm(opened, account, publicId)
      await opened.page.locator('.stage').waitFor()
      await opened.page.getByText('Theme', { exact: true }).click()
      await opened.page.locator('.add-step select').selectOption('choice')
      await opened.page.getByRole('button', { name: 'Add step' }).click()
      await opened.page.getByRole('button', { name: 'Add a branch' }).click()
      await opened.page.getByLabel('Key').fill('not a key')
      await opened.page.locator('.form-fields .violation').first().waitFor()
    },
  ],
  ['edit as JSON', showJson],
  [
    'preview',
    async (opened) => {
      await goToForm(opened, account, publicId, 'preview')
      await opened.page.locator('.stage').waitFor()
    },
  ],
  [
    'publish',
    async (opened) => {
      await goToForm(opened, account, publicId, 'publish')
      await opened.page.getByText('Correct this before you publish').waitFor()
    },
  ],
  [
    'revisions',
    async (opened) => {
      await goToForm(opened, account, publicId, 'revisions')
      await opened.page.getByText('First').waitFor()
    },
  ],
  [
    'compare',
    async (opened) => {
      await goToForm(opened, account, publicId, 'compare/live/draft')
      await opened.page.getByText('Breaking').first().waitFor()
    },
  ],
  [
    'activity',
    async (opened) => {
      await goToForm(opened, account, publicId, 'form-activity')
      await opened.page.getByText('Published').waitFor()
    },
  ],
  [
    'deleted forms',
    async ({ page }) => {
      await page.getByRole('link', { name: 'Deleted forms' }).click()
      await page.getByText('Thrown away').waitFor()
    },
  ],
  [
    'use it',
    async (opened) => {
      await goToForm(opened, account, publicId, 'use-it')
      await opened.page.getByRole('heading', { name: 'curl' }).first().waitFor()
    },
  ],
  [
    'keys',
    async ({ page }) => {
      await page.getByRole('link', { name: 'Keys' }).click()
      await page.getByRole('row', { name: /Test/ }).waitFor()
    },
  ],
  [
    'an error',
    async (opened) => {
      await goToForm(opened, account, 'nothing')
      await opened.page.getByText('FORM_NOT_FOUND').waitFor()
    },
  ],
]

/** Presses a button that opens a dialog, and waits for that. */
const openDialog = async ({ page }: ConsolePage, button: string | RegExp) => {
  await page.getByRole('button', { name: button }).first().click()
  await page.getByRole('dialog').waitFor()
}

/** Every dialog. Escape closes them, except that of a new key. */
const dialogs: [string, (opened: ConsolePage) => Promise<unknown>][] = [
  ['a new form', (opened) => openDialog(opened, 'New form')],
  [
    'an import that fails',
    async (opened) => {
      await openDialog(opened, 'New form')
      const file = { name: 'form.json', mimeType: 'application/json', buffer: Buffer.from('[]') }
      await opened.page.getByLabel('Or import a JSON file').setInputFiles(file)
      await opened.page.getByText('The file is not a JSON object.').waitFor()
    },
  ],
  [
    'a deletion',
    async (opened) => {
      await goToForm(opened, account, publicId)
      await openDialog(opened, 'Delete form')
    },
  ],
  [
    'a conflict',
    async (opened) => {
      await opened.page.getByLabel('Name', { exact: true }).fill('Mine')
      await edit(account, publicId, { name: `Theirs ${Date.now()}` })
      await openDialog(opened, 'Save')
    },
  ],
  ['signing out with unsaved changes', (opened) => openDialog(opened, 'Sign out')],
  [
    'an unpublish',
    async (opened) => {
      await goToForm(opened, account, publicId, 'publish')
      await openDialog(opened, 'Unpublish')
    },
  ],
  [
    'a rollback',
    async (opened) => {
      await goToForm(opened, account, publicId, 'revisions')
      await openDialog(opened, /^Roll back/)
    },
  ],
  [
    'a purge',
    async (opened) => {
      await opened.page.getByRole('link', { name: 'Deleted forms' }).click()
      await openDialog(opened, /^Remove for good/)
    },
  ],
  [
    'a rotation',
    async (opened) => {
      await opened.page.getByRole('link', { name: 'Keys' }).click()
      await openDialog(opened, 'Rotate Test')
    },
  ],
  ['a revocation', (opened) => openDialog(opened, 'Revoke Test')],
  [
    'a new key',
    async (opened) => {
      await opened.page.getByLabel('Name', { exact: true }).fill('Website')
      await openDialog(opened, 'Create key')
    },
  ],
]

const looks = [
  ['light', 1280],
  ['dark', 390],
] as const

describe('in light colours and 1280 pixels wide, in dark ones and 390', () => {
  const check = async ({ page }: ConsolePage, name: string, within?: string[]) => {
    for (const [colorScheme, width] of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 844 })
      // What stays in sight would cover a part of a field further down.
      await page.evaluate('scrollTo(0, 0)')
      expect(await accessibilityProblems(page, within), `${name}, ${colorScheme}`).toEqual([])
      expect(await isTooWide(page), `${name}, ${colorScheme}`).toBe(false)
    }
  }

  it('axe-core finds nothing on the sign-in page', async () => {
    await using opened = await openConsole()
    await opened.page.getByLabel('API key').waitFor()
    await check(opened, 'sign in')
  })

  it('axe-core finds nothing on any page', async () => {
    await using opened = await signIn(account)
    for (const [name, open] of pages) {
      await open(opened)
      await check(opened, name)
    }
    expect(opened.problems).toEqual([])
  })

  it('axe-core finds nothing in any dialog', async () => {
    await using opened = await signIn(account)
    for (const [name, open] of dialogs) {
      await open(opened)
      await check(opened, name, ['dialog[open]'])
      await opened.page.keyboard.press('Escape')
    }
    expect(opened.problems).toEqual([])
  })
})

describe('the fields of a step', () => {
  it('are fine by axe-core for every type that can be added', async () => {
    const own = await system().account()
    const form = await given(own, { steps: [] })
    await using opened = await signIn(own)
    const { page } = opened
    await goToForm(opened, own, form.publicId)
    const choice = page.locator('.add-step select')
    await choice.waitFor()
    const types = await choice.locator('option').allInnerTexts()
    for (const type of types) {
      await choice.selectOption(type)
      await page.getByRole('button', { name: 'Add step' }).click()
      await page.locator('.step-fields').getByLabel('Title').fill(`Type ${type}`)
      await page
        .locator('.stage')
        .getByRole('heading', { name: `Type ${type}` })
        .waitFor()
      await page.evaluate('scrollTo(0, 0)')
      expect(await accessibilityProblems(page, ['.step-fields', '.stage']), type).toEqual([])
    }
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()

    expect((await read(own, form.publicId)).steps).toHaveLength(types.length)
  })
})

describe('with the keyboard alone', () => {
  /** Presses a key until the element with this name has the focus. @returns how often */
  const tabTo = async (page: Page, name: RegExp, key = 'Tab') => {
    const seen: string[] = []
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press(key)
      const focused = await page.evaluate<string>(`(() => {
        const element = document.activeElement
        return element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? ''
      })()`)
      if (name.test(focused)) return presses + 1
      seen.push(focused)
    }
    throw new Error(`${key} does not reach ${name}, only ${seen.join(', ')}`)
  }

  it('somebody signs in, creates a form, edits and publishes it', async () => {
    const own = await system().account()
    await using opened = await openConsole()
    const { page } = opened
    await page.getByLabel('API key').waitFor()
    await tabTo(page, /API key/)
    await page.keyboard.type(own.apiKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    await tabTo(page, /^New form$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, /^Name/)
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
    await tabTo(page, /^Add step$/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Steps (1)' }).waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'By keyboard' }).focus()
    await tabTo(page, /^Publish$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Publish: By keyboard' }).waitFor()
    await tabTo(page, /^Note/)
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.getByText('Published. Respondents').waitFor()
  })

  it('one gets from the heading of a form with 12 steps to Add step with at most 15 presses', async () => {
    const own = await system().account()
    const steps = Array.from({ length: 12 }, (_, index) => ({
      type: 'text',
      key: `q${index}`,
      title: 'Why?',
    }))
    const form = await given(own, { steps })
    await using opened = await signIn(own)
    const { page } = opened
    await goToForm(opened, own, form.publicId)
    await page.getByLabel('Tone').waitFor()
    let presses = await tabTo(page, /^Skip the steps$/)
    await page.keyboard.press('Enter')
    presses += await tabTo(page, /^Add step$/)

    expect(presses + 1).toBeLessThanOrEqual(15)
  })

  it('one leaves the JSON editor', async () => {
    await using opened = await signIn(account)
    await goToForm(opened, account, publicId)
    await showJson(opened)
    await opened.page.locator('.cm-content').click()
    await opened.page.keyboard.press('Shift+Tab')

    const isOutside = 'document.activeElement.shadowRoot === null && document.activeElement !== document.body'
    expect(await opened.page.evaluate(isOutside)).toBe(true)
  })
})

describe('a form with 1,000 steps and 700 KB', () => {
  it('stays usable', async () => {
    const own = await system().account()
    const steps = Array.from({ length: 1_000 }, (_, index) => ({
      type: 'long-text',
      key: `q${index}`,
      title: `Question ${index}`,
      description: 'x'.repeat(620),
    }))
    const form = await given(own, { name: 'Large', steps })
    await using opened = await signIn(own)
    const { page } = opened
    await goToForm(opened, own, form.publicId)
    await page.locator('.stage').waitFor()

    await page.locator('.step-name', { hasText: 'Question 999' }).click()
    await page.locator('.step-fields').getByLabel('Title').fill('Changed')
    await page.keyboard.type(' again')
    // With the keyboard: to find a button by its name, Playwright reads those of 4,000 for seconds.
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()

    const saved = await read(own, form.publicId)
    expect(saved.steps[999].title).toBe('Changed again')
  })
})
