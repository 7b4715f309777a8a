import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { maxBackupAgeHours } from '@fms/contracts'
import { lowBytes } from '@fms/store-kit'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Rule {
  alert: string
  expr: string
  annotations: { runbook: string }
}

const rules: Rule[] = parse(read('deploy/alerts.yml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
const hasPromtool = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'promtool')))

/** The paragraph below the heading with this anchor. */
const paragraphOf = (page: string, anchor: string) =>
  page.split(/^(?=#+ )/m).find(
    (each) =>
      each
        .match(/^#+ (.*)$/m)![1]!
        .toLowerCase()
        .replaceAll(' ', '-') === anchor,
  )

describe('deploy/alerts.yml', () => {
  it.each(rules)(
    '$alert links to a paragraph of the first ten minutes that names it',
    ({ alert, annotations }) => {
      const [page, anchor] = annotations.runbook.split('#')

      expect(page).toBe('docs/first-ten-minutes.md')
      const paragraph = paragraphOf(read(page!), anchor!)
      expect(paragraph).toContain(`\`${alert}\``)
      expect(paragraph).toMatch(/^Alerts?: /m)
    },
  )

  it.each([
    ['BackupOld', `> ${maxBackupAgeHours} * 3600`],
    ['DiskLow', `< ${lowBytes / 1024 ** 3} * 1024 * 1024 * 1024`],
  ])('has the bound of formctl doctor for %s', (name, bound) => {
    expect(rules.find(({ alert }) => alert === name)!.expr).toContain(bound)
  })

  it('has a case in deploy/alerts.test.yml for every alert', () => {
    const { tests } = parse(read('deploy/alerts.test.yml'))

    expect(tests.map(({ name }: { name: string }) => name)).toEqual(rules.map(({ alert }) => alert))
  })

  it.runIf(hasPromtool)('passes its cases in promtool', async () => {
    const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', 'deploy/alerts.test.yml'], {
      cwd: root,
    })

    expect(stdout).toContain('SUCCESS')
  })
})
