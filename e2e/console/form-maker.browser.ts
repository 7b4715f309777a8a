import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { accessibilityProblems, isTooWide, screenshots } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, signIn, read, open } = withConsole()

/** Adds a step with the keyboard. The focus is in its title then. */
const add = async (page: Page, type: string, title: string) => {
  await page.locator('.add-step').getByLabel('Type').focus()
  await page.keyboard.type(type)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.part')).toBe('title')
  await page.keyboard.type(title)
}

/** From the title, the box after it. */
const require = async (page: Page) => {
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
}

const type = async (page: Page, field: string, text: string) => {
  await page.locator('.step-fields').getByLabel(field, { exact: true }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

describe('somebody who knows no JSON', () => {
  it('makes a sign-up form with the keyboard, publishes it, and opens it on a phone', async () => {
    const account = await system().account()
    await using opened = await signIn(account)
    const { page, context, problems } = opened
    await page.getByRole('button', { name: 'New form' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).focus()
    await page.keyboard.type('Rowing course')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Rowing course' }).waitFor()
    const publicId = /forms\/(\w+)\/edit/.exec(page.url())![1]!

    // 12 steps: required ones, limits, and a warning while one is not complete.
    await add(page, 'Start', 'Learn to row')
    await type(page, 'Button', 'Begin')
    await add(page, 'Text', 'What is your name?')
    await require(page)
    await type(page, 'Most characters', '80')
    await add(page, 'Email', 'What is your email address?')
    await require(page)
    await add(page, 'Phone', 'What is your phone number?')
    await add(page, 'Date', 'When were you born?')
    await require(page)
    await add(page, 'Choice', 'Which course?')
    await require(page)
    await page.locator('.step-fields .warning', { hasText: 'is missing' }).waitFor()
    await screenshots(page, 'way-1-warning', page.locator('.steps li').last())
    await type(page, 'Options', 'Morning\nEvening')
    await page.locator('.step-fields .warning').waitFor({ state: 'detached' })
    await add(page, 'Multiple choice', 'What do you eat for breakfast?')
    await type(page, 'Options', 'Bread\nPorridge\nNothing')
    await add(page, 'Yes', 'Can you swim 200 metres?')
    await require(page)
    await add(page, 'Number', 'How many hours a week do you train?')
    await type(page, 'Largest', '40')
    await add(page, 'Payment', 'Entry fee')
    await type(page, 'Amount', '45')
    await type(page, 'Currency', 'EUR')
    await add(page, 'Long', 'Is there anything else?')
    await page.locator('.form-fields .warning', { hasText: 'has no end' }).waitFor()
    await add(page, 'End', 'See you at the river')
    await page.locator('.form-fields .warning').waitFor({ state: 'detached' })

    // If the course is in the evening, nobody asks about breakfast.
    await page.getByRole('button', { name: 'Choice Which course?' }).press('Enter')
    await page.getByRole('button', { name: 'Add a branch' }).press('Enter')
    const branch = page.getByRole('group', { name: 'Branch 1' })
    await branch.getByLabel('Answer').focus()
    await page.keyboard.type('Evening')
    await branch.getByLabel('Step to go to').focus()
    await page.keyboard.type('Can you swim')
    await screenshots(page, 'way-2-branch', branch)

    await page.getByText('Languages', { exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Another language').focus()
    await page.keyboard.type('de')
    await page.keyboard.press('Enter')
    const german = {
      'Title of Learn to row': 'Rudern lernen',
      'Button of Learn to row': 'Los',
      'Title of What is your name?': 'Wie heißen Sie?',
      'Title of What is your email address?': 'Wie ist Ihre E-Mail-Adresse?',
      'Title of Which course?': 'Welcher Kurs?',
      'Option 1 of Which course?': 'Morgens',
      'Option 2 of Which course?': 'Abends',
      'Title of Can you swim 200 metres?': 'Können Sie 200 Meter schwimmen?',
    }
    for (const [text, translation] of Object.entries(german)) {
      await page.getByLabel(`${text}, in de`).focus()
      await page.keyboard.insertText(translation)
    }
    await screenshots(page, 'way-3-languages', page.getByRole('table'))

    await context.setOffline(true)
    await page.getByText('No connection to the service.').waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('It is saved by itself once the service responds again.').waitFor()
    await screenshots(page, 'way-4-offline', page.locator('.banner'))
    await context.setOffline(false)
    await page.getByText('Saved', { exact: true }).waitFor()
    const { steps } = await read(account, publicId)
    expect(steps).toHaveLength(12)
    expect(steps[1]).toMatchObject({ required: true, maxLength: 80 })

    await page.getByRole('link', { name: 'Publish' }).press('Enter')
    await page.getByLabel('Note').focus()
    await page.keyboard.type('For this summer')
    await page.keyboard.press('Enter')
    await page.getByText('Published. Respondents').waitFor()
    const link = page.getByRole('link', { name: new RegExp(`/f/${publicId}$`) })
    const publicUrl = (await link.getAttribute('href'))!
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'way-5-publish')
    expect(problems).toEqual([])

    await using phone = await open(publicUrl, { viewport: { width: 390, height: 844 } })
    await answerInGerman(phone.page)
    expect(phone.problems).toEqual([])
  })
})

/** Goes through the form with the keyboard alone. */
const answerInGerman = async (page: Page) => {
  const next = async (title: string) => {
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
    await page.keyboard.press('Tab')
  }
  await page.getByLabel('Language').focus()
  await page.keyboard.type('de')
  await page.getByRole('button', { name: 'Los' }).focus()
  await next('Wie heißen Sie?')
  await page.keyboard.press('Enter')
  await page.getByText('This question requires an answer.').waitFor()
  await page.keyboard.type('Ada')
  await next('Wie ist Ihre E-Mail-Adresse?')
  await page.keyboard.type('ada@example.com')
  await next('What is your phone number?')
  await next('When were you born?')
  await page.keyboard.type('12101999')
  await next('Welcher Kurs?')
  await page.keyboard.press('ArrowDown')
  await screenshots(page, 'way-6-phone')
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await isTooWide(page)).toBe(false)
  await next('Können Sie 200 Meter schwimmen?')
  await page.keyboard.press('Space')
  await next('How many hours a week do you train?')
  await page.keyboard.type('8')
  await next('Entry fee')
  await next('Is there anything else?')
  await page.keyboard.press('Tab')
  await next('See you at the river')
  await page.getByText('this page does not collect answers').waitFor()
}
