import { afterEach, describe, expect, it } from 'vitest'
import { OtherTabs } from './other-tabs.ts'

const user = 'users/ada'
const form = 'organizations/o/forms/f'
const opened: OtherTabs[] = []
const open = (path = form, userPath = user): OtherTabs => {
  const tabs = new OtherTabs(userPath, path)
  opened.push(tabs)
  return tabs
}
const areOpen = () => opened.map((tabs) => tabs.areOpen.value)

afterEach(() => {
  for (const tabs of opened.splice(0)) tabs.close()
})

describe('tabs with the same form', () => {
  it('know of each other until one is left', async () => {
    const [first, second] = [open(), open()]
    open('organizations/o/forms/g')
    open(form, 'users/bob')
    await expect.poll(areOpen).toEqual([true, true, false, false])
    const third = open()
    await expect.poll(() => third.areOpen.value).toBe(true)

    opened.splice(0, 1)
    first!.close()
    await expect.poll(() => second!.areOpen.value).toBe(true)
    opened.splice(opened.indexOf(third), 1)
    third.close()
    await expect.poll(() => second!.areOpen.value, { timeout: 10_000 }).toBe(false)
  })

  it('know which states the others have saved', async () => {
    const [first, second] = [open(), open()]
    first.saved('"2"')

    await expect.poll(() => second.haveSaved('"2"')).toBe(true)
    expect([first.haveSaved('"2"'), second.haveSaved('"1"')]).toEqual([false, false])
  })
})
