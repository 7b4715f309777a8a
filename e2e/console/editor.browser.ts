import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Account } from '../system.ts'
import { accessibilityProblems, type ConsolePage, goToForm, showJson } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, signIn, given, read } = withConsole()

const questions = (...titles: string[]) =>
  titles.map((title) => ({ type: 'text', key: title.toLowerCase(), title }))

/** Opens a form with these steps in the editor. */
const openEditor = async (steps: object[], options?: Parameters<typeof signIn>[1]) => {
  const account = await system().account()
  const { publicId } = await given(account, { steps })
  const opened = await signIn(account, options)
  await goToForm(opened, account, publicId)
  await opened.page.getByLabel('Tone').waitFor()
  return { ...opened, account, publicId, [Symbol.asyncDispose]: opened[Symbol.asyncDispose] }
}
const names = (page: Page) => page.locator('.step-name bdi').allInnerTexts()
const titleField = (page: Page) => page.locator('.step-fields').getByLabel('Title')
const focusedValue = (page: Page) => page.evaluate<string | undefined>('document.activeElement.value')
const openStep = (page: Page, name: RegExp | string) =>
  page.locator('.step-name').filter({ hasText: name }).click()

/** Replaces the fields of the form by these, as JSON. */
const writeJson = async (opened: ConsolePage, form: object) => {
  await showJson(opened)
  await opened.page.locator('.cm-content').click()
  await opened.page.keyboard.press('Control+a')
  const others = { name: 'By JSON', type: 'structured', defaultMode: 'guided' }
  await opened.page.keyboard.insertText(JSON.stringify({ ...others, ...form }))
}

const saved = async (page: Page, account: Account, publicId: string) => {
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  return (await read(account, publicId)).steps
}

describe('undo', () => {
  it('brings back a removed step, discarded changes, and what was typed; redo takes it away again', async () => {
    await using opened = await openEditor(questions('Name', 'Fee'))
    const { page, account, publicId } = opened
    await page.getByRole('button', { name: 'Remove Fee' }).click()
    await page.locator('[role=status]', { hasText: 'Removed Fee. Undo brings it back.' }).waitFor()
    await page.keyboard.press('Control+z')
    await expect.poll(() => names(page)).toEqual(['Name', 'Fee'])
    await page.keyboard.press('Control+Shift+z')
    await expect.poll(() => names(page)).toEqual(['Name'])

    await page.getByLabel('Tone').press('End')
    await page.keyboard.type('er')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('Discarded. Undo brings it back.').waitFor()
    await expect.poll(() => names(page)).toEqual(['Name', 'Fee'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => page.getByLabel('Tone').inputValue()).toBe('professionaler')
    await page.getByLabel('Tone').press('Control+z')
    await expect.poll(() => page.getByLabel('Tone').inputValue()).toBe('professional')
    expect(await names(page)).toEqual(['Name'])
    await page.getByRole('button', { name: 'Redo' }).click()

    expect(await saved(page, account, publicId)).toHaveLength(1)
    expect((await read(account, publicId)).tone).toBe('professionaler')
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Control+z')
    expect(await saved(page, account, publicId)).toHaveLength(2)
  })

  it('closes a step whose place another one takes, and works on a Cyrillic keyboard', async () => {
    await using opened = await openEditor(questions('Alpha', 'Beta'))
    const { page } = opened
    await openStep(page, 'Alpha')
    await page.getByRole('button', { name: 'Move Alpha down' }).click()
    await expect.poll(() => names(page)).toEqual(['Beta', 'Alpha'])
    await page.evaluate(
      `dispatchEvent(new KeyboardEvent('keydown', { key: 'я', code: 'KeyZ', ctrlKey: true }))`,
    )

    await expect.poll(() => names(page)).toEqual(['Alpha', 'Beta'])
    await expect.poll(() => page.locator('.step-fields').count()).toBe(0)
  })

  it('is the one of the form in the JSON editor, too', async () => {
    await using opened = await openEditor(questions('Name'))
    const { page } = opened
    await page.getByRole('button', { name: 'Remove Name' }).click()
    await page.getByLabel('Show JSON').check()
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+z')

    await expect.poll(() => names(page)).toEqual(['Name'])
    await page.locator('.cm-content').getByText('"Name"').first().waitFor()
  })
})

describe('a step', () => {
  it('is added with the focus in its title, of which its key is made', async () => {
    await using opened = await openEditor([
      ...questions('Name'),
      { type: 'end', key: 'end', title: 'Thanks' },
    ])
    const { page, account, publicId } = opened
    await page.locator('.add-step select').selectOption('payment')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.locator('[role=status]', { hasText: 'Added step 2.' }).waitFor()
    await page.keyboard.type('Entry fee')
    await page.getByLabel('Amount').pressSequentially('12.50')
    await page.getByLabel('Currency').fill('EUR')
    await page.getByLabel('Required').check()
    await page.locator('.stage').getByRole('heading', { name: 'Entry fee' }).waitFor()
    await page.locator('.stage').getByText('12.5 EUR').waitFor()

    expect((await saved(page, account, publicId))[1]).toEqual({
      type: 'payment',
      key: 'entry-fee',
      title: 'Entry fee',
      amount: 12.5,
      currency: 'EUR',
      required: true,
    })
    await titleField(page).fill('Fee')
    expect((await saved(page, account, publicId))[1]).toMatchObject({ key: 'entry-fee', title: 'Fee' })
  })

  it('has fields for its limits, its labels and a pasted list of options', async () => {
    await using opened = await openEditor(questions('Name'))
    const { page, account, publicId } = opened
    await openStep(page, 'Name')
    await page.getByLabel('Fewest characters').fill('2')
    await page.getByLabel('Most characters').fill('40')
    await page.locator('.add-step select').selectOption('choice')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.keyboard.type('Drink')
    await page.getByLabel('Options').focus()
    await page.keyboard.insertText('Tea\n\nCoffee\nWater\n')
    await page.locator('.add-step select').selectOption('scale')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByLabel('Smallest').fill('-2')
    await page.getByLabel('Largest').fill('2')
    await page.getByLabel('Labels').fill('Never\nAlways')
    await page.getByLabel('Required').check()
    const preview = page.locator('.stage')
    await preview.getByLabel('-2 Never').waitFor()
    await preview.getByRole('button', { name: 'Next' }).click()
    await page.getByText('This question requires an answer.').waitFor()
    await preview.getByLabel('2 Always').last().check()
    await preview.getByRole('button', { name: 'Next' }).click()
    await page.getByText('The form ends here.').waitFor()

    const [text, choice, scale] = await saved(page, account, publicId)
    expect(text).toMatchObject({ minLength: 2, maxLength: 40 })
    expect(choice).toMatchObject({ key: 'drink', options: ['Tea', 'Coffee', 'Water'] })
    expect(scale).toMatchObject({ min: -2, max: 2, labels: ['Never', 'Always'] })
    await openStep(page, 'Name')
    await page.getByLabel('Fewest characters').fill('')
    expect((await saved(page, account, publicId))[0]).toEqual({
      type: 'text',
      key: 'name',
      title: 'Name',
      maxLength: 40,
    })
  })

  it('moves to any place with the mouse and with the keyboard, and is added or copied below another one', async () => {
    await using opened = await openEditor(questions('A', 'B', 'C', 'D', 'E'))
    const { page, account, publicId } = opened
    await page.locator('.drag').nth(4).dragTo(page.locator('.step-row').nth(0))
    await expect.poll(() => names(page)).toEqual(['E', 'A', 'B', 'C', 'D'])
    await openStep(page, /E$/)
    await page.getByLabel('Move to place').fill('4')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['A', 'B', 'C', 'E', 'D'])
    await page.locator('[role=status]', { hasText: 'Moved E to place 4.' }).waitFor()
    expect(await titleField(page).inputValue()).toBe('E')
    await page.getByRole('button', { name: 'Move E up' }).press('Enter')
    await page.getByRole('button', { name: 'Duplicate' }).press('Enter')
    await expect.poll(() => focusedValue(page)).toBe('E')
    await page.keyboard.type('!')
    await page.getByRole('button', { name: 'Add below' }).press('Enter')
    await expect.poll(() => focusedValue(page)).toBe('')
    await page.keyboard.type('New')

    const steps = await saved(page, account, publicId)
    expect(steps.map(({ key, title }: Record<string, string>) => `${key} ${title}`)).toEqual([
      'a A',
      'b B',
      'e E',
      'e-2 E!',
      'new New',
      'c C',
      'd D',
    ])
  })

  it('leads on by a sentence, which the preview follows', async () => {
    await using opened = await openEditor([
      { type: 'choice', key: 'course', title: 'Which course?', options: ['Morning', 'Evening'] },
      ...questions('Why'),
      { type: 'end', key: 'price', title: 'Price' },
    ])
    const { page, account, publicId } = opened
    await openStep(page, 'Which course?')
    await page.getByRole('button', { name: 'Add a branch' }).click()
    const branch = page.getByRole('group', { name: 'Branch 1' })
    await branch.getByLabel('Answer').selectOption('Evening')
    await branch.getByLabel('Step to go to').selectOption('Price')
    await page.locator('.stage').getByLabel('Evening').check()
    await page.locator('.stage').getByRole('button', { name: 'Next' }).click()
    await page.locator('.stage').getByRole('heading', { name: 'Price' }).waitFor()

    const condition = { stepKey: 'course', operator: 'equals', value: 'Evening', negate: false }
    expect((await saved(page, account, publicId))[0].branches).toEqual([
      { targetStepKey: 'price', groups: [[condition]] },
    ])
    await branch.getByLabel('Comparison').selectOption('is not')
    await branch.getByRole('button', { name: 'Or …' }).click()
    await branch.getByLabel('Answer').last().selectOption('Morning')
    expect((await saved(page, account, publicId))[0].branches[0].groups).toEqual([
      [{ ...condition, negate: true }],
      [{ ...condition, value: 'Morning' }],
    ])
    await page.getByRole('button', { name: 'Remove branch 1' }).click()
    expect((await saved(page, account, publicId))[0].branches).toBeUndefined()
  })
})

describe('the preview', () => {
  it('shows the option as chosen that was clicked, though another one is the same answer', async () => {
    await using opened = await openEditor([
      { type: 'choice', key: 'day', title: 'Which day?', options: ['Friday', 'Sunday', 'Friday'] },
    ])
    const options = opened.page.locator('.stage').getByRole('radio')
    for (const index of [2, 0, 1]) {
      await options.nth(index).check()
      expect(await opened.page.locator('.stage :checked').count()).toBe(1)
    }
    await opened.page.getByRole('button', { name: 'Start again' }).click()
    await expect.poll(() => opened.page.locator('.stage :checked').count()).toBe(0)
  })
})

describe('a branch', () => {
  it('may always hold, and then comes after those with a condition', async () => {
    await using opened = await openEditor([
      { type: 'statement', key: 'hello', title: 'Hello' },
      { type: 'yes-no', key: 'swim', title: 'Can you swim?' },
      ...questions('Why'),
      { type: 'end', key: 'end', title: 'Bye' },
    ])
    const { page, account, publicId } = opened
    const branch = (number: number) => page.getByRole('group', { name: `Branch ${number}` })
    const always = page.getByRole('button', { name: 'Always go to …' })
    await openStep(page, 'Hello')
    await always.click()
    await branch(1).getByText('Always go to').waitFor()
    await page.locator('.stage').getByRole('button', { name: 'Next' }).click()
    await page.locator('.stage').getByRole('heading', { name: 'Why' }).waitFor()

    await openStep(page, 'Can you swim?')
    await always.click()
    expect(await always.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Add a branch' }).click()
    await branch(1).getByLabel('Answer').selectOption('No')
    await branch(2).getByLabel('Step to go to').selectOption('Hello')
    const condition = { stepKey: 'swim', operator: 'equals', value: 'no', negate: false }
    const [hello, swim] = await saved(page, account, publicId)
    const jump = (targetStepKey: string) => ({ targetStepKey, groups: [[]] })
    expect(hello.branches).toEqual([jump('why')])
    expect(swim.branches).toEqual([{ targetStepKey: 'end', groups: [[condition]] }, jump('hello')])

    await branch(2).getByRole('button', { name: 'Only if …' }).click()
    await branch(2).getByLabel('Answer').selectOption('Yes')
    expect((await saved(page, account, publicId))[1].branches[1].groups).toEqual([
      [{ ...condition, value: 'yes' }],
    ])
  })

  it('compares an answer with what the question can have: options by their labels, yes or no, numbers', async () => {
    await using opened = await openEditor([
      {
        type: 'multiple-choice',
        key: 'days',
        title: 'Which days?',
        options: [{ key: 'fri', label: 'Friday' }, 'Sunday'],
      },
      { type: 'yes-no', key: 'swim', title: 'Can you swim?' },
      { type: 'scale', key: 'fit', title: 'How fit are you?', min: 0, max: 10 },
      ...questions('Why'),
      { type: 'end', key: 'end', title: 'Bye' },
    ])
    const { page, account, publicId } = opened
    await openStep(page, 'How fit')
    await page.getByRole('button', { name: 'Add a branch' }).click()
    const branch = page.getByRole('group', { name: 'Branch 1' })
    const last = (name: string) => branch.getByLabel(name).last()
    await last('Comparison').selectOption('is more than')
    await last('Answer').pressSequentially('7')
    await branch.getByRole('button', { name: 'And …' }).click()
    await last('Question').selectOption('Which days?')
    await last('Comparison').selectOption('does not include')
    await last('Answer').selectOption('Friday')
    await branch.getByRole('button', { name: 'Or …' }).click()
    await last('Question').selectOption('Can you swim?')
    await last('Answer').selectOption('No')
    await branch.getByRole('button', { name: 'Or …' }).click()
    await last('Comparison').selectOption('is not answered')
    expect(await branch.getByLabel('Answer').count()).toBe(3)
    await last('Step to go to').selectOption('Bye')

    const condition = (stepKey: string, operator: string, value: string, negate = false) => ({
      stepKey,
      operator,
      value,
      negate,
    })
    const [days, , fit] = await saved(page, account, publicId)
    expect(fit.branches).toEqual([
      {
        targetStepKey: 'end',
        groups: [
          [condition('fit', 'greaterThan', '7'), condition('days', 'includes', 'fri', true)],
          [condition('swim', 'equals', 'no')],
          [condition('fit', 'isAnswered', '', true)],
        ],
      },
    ])
    expect(days.options).toHaveLength(2)
    expect(await page.locator('.form-fields .warning').count()).toBe(0)
  })
})

describe('options with keys', () => {
  it('keep them, and their translations, while the list is edited', async () => {
    await using opened = await openEditor([
      {
        type: 'choice',
        key: 'day',
        title: 'Which day?',
        options: [
          { key: 'fri', label: 'Friday' },
          { key: 'sun', label: 'Sunday' },
        ],
      },
      ...questions('Name'),
    ])
    const { page, account, publicId } = opened
    await page.getByText('Languages', { exact: true }).click()
    await page.getByLabel('Another language').fill('de')
    await page.keyboard.press('Enter')
    await page.getByLabel('Option 1 of Which day?, in de').fill('Freitag')
    await page.getByLabel('Option 2 of Which day?, in de').fill('Sonntag')
    await openStep(page, 'Which day?')
    const options = page.locator('.step-fields').getByLabel('Options')
    await options.press('Control+Home')
    await page.keyboard.press('End')
    await page.keyboard.type('s\n\nSaturdays')
    await options.press('Control+End')
    await page.keyboard.type('s')
    await page.getByLabel('Option 3 of Which day?, in de').fill('Samstag')

    const [day] = await saved(page, account, publicId)
    expect(day.options).toEqual([
      { key: 'fri', label: 'Fridays' },
      'Saturdays',
      { key: 'sun', label: 'Sundays' },
    ])
    const { i18n } = await read(account, publicId)
    expect(i18n.translations.de.steps.day.options.map(({ value }: { value: string }) => value)).toEqual([
      'Freitag',
      'Samstag',
      'Sonntag',
    ])
  })
})

describe('the key of a step', () => {
  it('takes its branches and translations along, also past the key of another step, and stays once it is translated', async () => {
    const condition = { stepKey: 'text-2', operator: 'equals', value: 'yes', negate: false }
    await using opened = await openEditor([
      { type: 'text', key: 'text', title: 'One' },
      {
        type: 'text',
        key: 'text-2',
        title: 'Two',
        branches: [{ targetStepKey: 'end', groups: [[condition]] }],
      },
      { type: 'end', key: 'end', title: 'Thanks' },
    ])
    const { page, account, publicId } = opened
    await page.getByRole('button', { name: 'Remove One' }).click()
    await page.keyboard.press('Control+z')
    await page.getByText('Languages', { exact: true }).click()
    await page.getByLabel('Another language').fill('de')
    await page.keyboard.press('Enter')
    await page.getByLabel('Title of Two, in de').fill('Zwei')
    await openStep(page, 'Two')
    await page.getByLabel('Key').press('End')
    for (let presses = 0; presses < 6; presses++) await page.keyboard.press('Backspace')
    await page.keyboard.type('mail')
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.keyboard.type('Three')
    await page.getByLabel('Title of Three, in de').fill('Drei')
    await titleField(page).fill('Four')

    const steps = await saved(page, account, publicId)
    expect(steps.map(({ key }: { key: string }) => key)).toEqual(['text', 'mail', 'three', 'end'])
    expect(steps[1].branches[0].groups[0][0].stepKey).toBe('mail')
    const { i18n } = await read(account, publicId)
    expect(Object.keys(i18n.translations.de.steps).sort()).toEqual(['mail', 'three'])
  })

  it('may be that of another step for a while, whose translations stay as they are', async () => {
    const day = { type: 'choice', key: 'day', title: 'Day', options: ['Friday', 'Sunday'] }
    const two = { type: 'text', key: 'day-2', title: 'Two' }
    const three = { type: 'text', key: 'three', title: 'Three' }
    const [title, ...options] = ['Tag', 'Freitag', 'Sonntag'].map((value) => ({ value, stale: false }))
    const ofText = (value: string) => ({ title: { value, stale: false } })
    const translated = { day: { title, options }, 'day-2': ofText('Zwei'), three: ofText('Drei') }
    const i18n = { supportedLocales: ['en', 'de'], translations: { de: { steps: translated } } }
    const account = await system().account()
    const { publicId } = await given(account, { steps: [day, two, three], i18n })
    await using opened = await signIn(account)
    const { page } = opened
    await goToForm(opened, account, publicId)
    await writeJson(opened, { steps: [day, two, three, day], i18n })
    await page.locator('.step-name').last().click()
    await page.locator('.step-fields').getByLabel('Options').press('Control+Home')
    await page.keyboard.type('Monday\n')
    await page.getByRole('button', { name: 'Remove Day' }).last().click()
    await openStep(page, 'Two')
    await page.getByLabel('Key').press('End')
    for (let presses = 0; presses < 2; presses++) await page.keyboard.press('Backspace')
    await page.getByRole('button', { name: 'Remove Two' }).click()

    expect(await saved(page, account, publicId)).toMatchObject([day, three])
    const german = async () => (await read(account, publicId)).i18n.translations.de.steps
    expect(Object.keys(await german()).sort()).toEqual(['day', 'three'])
    expect((await german()).day).toMatchObject({ title, options })

    await openStep(page, 'Three')
    await page.getByLabel('Key').fill('day')
    await page.getByRole('button', { name: 'Remove Day' }).click()
    expect(await saved(page, account, publicId)).toMatchObject([{ ...three, key: 'day' }])
    expect(await german()).toMatchObject({ day: ofText('Drei') })
    expect(Object.keys(await german())).toEqual(['day'])
  })

  it('may be that of another step while the step is duplicated: the copy refers to itself and to the other one', async () => {
    const groups = [
      ['one', 'two'].map((stepKey) => ({ stepKey, operator: 'equals', value: 'x', negate: false })),
    ]
    const [one, two] = questions('One', 'Two')
    await using opened = await openEditor([one!, { ...two, branches: [{ targetStepKey: 'one', groups }] }])
    const { page, account, publicId } = opened
    await openStep(page, 'Two')
    await page.getByLabel('Key').fill('one')
    await page.getByRole('button', { name: 'Duplicate' }).click()
    await page.locator('.step-name').nth(1).click()
    await page.getByLabel('Key').fill('two')

    const copy = (await saved(page, account, publicId))[2]
    expect(copy.key).toBe('two-2')
    expect(copy.branches[0].groups[0].map(({ stepKey }: { stepKey: string }) => stepKey)).toEqual([
      'one',
      'two-2',
    ])
  })

  it('may be that of another step while two others have the same', async () => {
    await using opened = await openEditor(questions('Name'))
    const { page, account, publicId } = opened
    const keys = { One: 'one', Two: 'same', Three: 'same', Four: 'four' }
    await writeJson(opened, {
      steps: Object.entries(keys).map(([title, key]) => ({ type: 'text', key, title })),
    })
    for (const [title, key] of [
      ['One', 'four'],
      ['Two', 'one'],
      ['Four', 'five'],
    ] as const) {
      await openStep(page, title)
      await page.getByLabel('Key').fill(key)
    }

    const steps = await saved(page, account, publicId)
    expect(steps.map(({ key }: { key: string }) => key)).toEqual(['four', 'one', 'same', 'five'])
  })

  it.each([
    [
      'while a step is added',
      async (page: Page) => {
        await page.getByLabel('Key').fill('one')
        await page.getByRole('button', { name: 'Add below' }).click()
        await openStep(page, 'Two')
        await page.getByLabel('Key').fill('two-b')
        return ['one', 'two-b', 'text']
      },
    ],
    [
      'and it is undone',
      async (page: Page) => {
        await page.getByLabel('Key').fill('one')
        await page.keyboard.press('Control+z')
        await openStep(page, 'One')
        await page.getByLabel('Key').fill('two')
        await page.getByLabel('Key').fill('two-b')
        return ['two-b', 'two']
      },
    ],
    [
      'until that step has another key',
      async (page: Page) => {
        await page.getByLabel('Key').fill('one')
        await openStep(page, 'One')
        await page.getByLabel('Key').fill('one-b')
        return ['one-b', 'one']
      },
    ],
    [
      'until that step has its former key',
      async (page: Page) => {
        await page.getByLabel('Key').fill('one')
        await openStep(page, 'One')
        await page.getByLabel('Key').fill('two')
        return ['two', 'one']
      },
    ],
  ])('may be that of another step %s: each keeps its branches and translations', async (_, edit) => {
    const account = await system().account()
    const branches = [{ targetStepKey: 'one', groups: [[]] }]
    const steps = [...questions('One'), { type: 'text', key: 'two', title: 'Two', branches }]
    const translated = (one: string, two: string) => ({
      [one]: { title: { value: 'Eins', stale: false } },
      [two]: { title: { value: 'Zwei', stale: false } },
    })
    const i18n = {
      supportedLocales: ['en', 'de'],
      translations: { de: { steps: translated('one', 'two') } },
    }
    const { publicId } = await given(account, { steps, i18n })
    await using opened = await signIn(account)
    await goToForm(opened, account, publicId)
    await openStep(opened.page, 'Two')
    const keys = await edit(opened.page)

    const after = await saved(opened.page, account, publicId)
    expect(after.map(({ key }: { key: string }) => key)).toEqual(keys)
    expect(after[1].branches[0].targetStepKey).toBe(keys[0])
    const { de } = (await read(account, publicId)).i18n.translations
    expect(de.steps).toMatchObject(translated(keys[0]!, keys[1]!))
  })
})

describe('the languages of a form', () => {
  it('are a table of its texts', async () => {
    await using opened = await openEditor([
      { type: 'choice', key: 'day', title: 'Which day?', options: ['Friday', 'Sunday'] },
      ...questions('Name'),
    ])
    const { page, account, publicId } = opened
    await page.getByText('Languages', { exact: true }).click()
    await page.getByLabel('Another language').fill('de')
    await page.keyboard.press('Enter')
    await page.getByLabel('Title of Which day?, in de').fill('Welcher Tag?')
    await page.getByLabel('Option 2 of Which day?, in de').fill('Sonntag')
    await page.getByLabel('Title of Name, in de').fill('Name')
    await page.locator('aside').getByLabel('Language').selectOption('de')
    await page.locator('.stage').getByText('Sonntag').waitFor()
    await page.getByRole('button', { name: 'Remove Name' }).click()
    await saved(page, account, publicId)

    const { i18n } = await read(account, publicId)
    expect(i18n.supportedLocales).toEqual(['en', 'de'])
    expect(Object.keys(i18n.translations.de.steps)).toEqual(['day'])
    expect(i18n.translations.de.steps.day).toMatchObject({
      title: { value: 'Welcher Tag?' },
      options: [{ value: '' }, { value: 'Sonntag' }],
    })
  })
})

describe('the preview beside the fields', () => {
  it('stays at its step while the form changes', async () => {
    await using opened = await openEditor(questions('One', 'Two', 'Three'))
    const { page } = opened
    const shown = (name: string) => page.locator('.stage').getByRole('heading', { name }).waitFor()
    await shown('One')
    await page.locator('.stage').getByRole('button', { name: 'Next' }).click()
    await shown('Two')
    await openStep(page, 'One')
    await shown('One')
    await titleField(page).fill('First')
    await shown('First')
    await page.getByLabel('Key').fill('first')
    await page.getByRole('button', { name: 'Move First down' }).click()
    await shown('First')
    await page.getByRole('button', { name: 'Remove Two' }).click()
    await shown('First')
  })

  it('names the right step, and the error of one that is no object', async () => {
    await using opened = await openEditor(questions('One', 'Two', 'Three'))
    const { page, problems } = opened
    await openStep(page, 'One')
    await writeJson(opened, { steps: [null, ...questions('Two', 'Three')] })
    await page.locator('.step-fields .violation').waitFor()
    await page.getByLabel('Show JSON').uncheck()
    await openStep(page, 'Two')
    await page.locator('.stage').getByRole('heading', { name: 'Two' }).waitFor()

    expect(problems).toEqual([])
  })
})

describe('what respondents may stumble over', () => {
  it('is shown beside its field and on Publish, and prevents neither', async () => {
    await using opened = await openEditor([
      { type: 'ratign', key: 'stars', titel: 'How many stars?', max: 5 },
      { type: 'choice', key: 'drink', title: 'Drink', options: ['Tea', 'Tea'] },
      ...questions('Name'),
    ])
    const { page, account, publicId } = opened
    const fields = page.locator('.form-fields')
    const warning = (text: string) => fields.locator('.warning', { hasText: text })
    // A warning that arrived above would move the button from under the mouse.
    const top = async (locator: Locator) => (await locator.boundingBox())!.y
    const add = page.getByRole('button', { name: 'Add step' })
    await warning('has no end').waitFor()
    expect(await top(warning('has no end'))).toBeGreaterThan(await top(add))
    await openStep(page, 'stars')
    await warning('did you mean rating?').waitFor()
    await warning('did you mean title?').waitFor()
    await openStep(page, 'Drink')
    await warning('Option “Tea” of Drink: repeats').waitFor()
    await page.getByText('Theme', { exact: true }).click()
    const color = fields.getByLabel('Buttons', { exact: true })
    await color.fill('teal')
    await warning('is no colour').waitFor()
    await fields.getByLabel('Radius of buttons').fill('')
    await fields.getByLabel('Radius of buttons').pressSequentially('4.05')
    expect(await color.getAttribute('aria-invalid')).toBeNull()
    expect(await fields.locator('.violation').count()).toBe(0)
    await page.getByLabel('Show JSON').check()
    await page.locator('.cm-lintRange-warning', { hasText: '"ratign"' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await saved(page, account, publicId)
    expect((await read(account, publicId)).theme.buttonRadiusPx).toBe(4.05)

    await page.getByRole('link', { name: 'Publish' }).click()
    const summary = page.locator('.card', { hasText: 'things that respondents may stumble over' })
    await summary.getByText('Buttons: is no colour').waitFor()
    await summary.getByText('Option “Tea” of Drink: repeats').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published. Respondents').waitFor()
    await summary.getByText('has no end').waitFor()
  })
})

describe('a form with 500 steps, each with a warning', () => {
  /** Opens a form with as many steps. @returns the CPU time of a keystroke: with all translations shown, and before. */
  const keystrokesIn = async (count: number) => {
    const steps = questions(...Array.from({ length: count }, (_, index) => `Q${index}`))
    await using opened = await openEditor(steps.map((step) => ({ ...step, titel: '' })))
    const { page } = opened
    await page.locator('.badge.warning').last().waitFor()
    await openStep(page, `Q${count - 1}`)
    const cdp = await opened.context.newCDPSession(page)
    // The time of the processor, since other tests run at the same time.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
    const taskSeconds = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'TaskDuration')!.value
    }
    /** Of a keystroke, its frame included: the least of 15. */
    const keystroke = async () => {
      const times: number[] = []
      for (let count = 0; count < 15; count++) {
        const before = await taskSeconds()
        await titleField(page).press('x')
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
        times.push((await taskSeconds()) - before)
      }
      return Math.min(...times)
    }

    const before = await keystroke()
    await page.getByText('Languages', { exact: true }).click()
    await page.getByLabel('Another language').fill('de')
    await page.keyboard.press('Enter')
    await page.getByLabel(`Title of Q${count - 2}, in de`).waitFor()
    return [await keystroke(), before] as const
  }

  it('needs less than 6 times the CPU time of one with 2 steps for a keystroke, also with all translations', async () => {
    const [[translated, plain], [translatedOf2, plainOf2]] = [await keystrokesIn(500), await keystrokesIn(2)]

    expect(plain / plainOf2).toBeLessThan(6)
    expect(translated / translatedOf2).toBeLessThan(6)
  })
})
