import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { givenForm } from '../../contract/given.ts'
import { SqliteFormsStore } from '../forms-store.ts'

it('finds forms with more than 10,000 revisions, those with the highest numbers first', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'forms-store-'))
  const path = join(folder.path, 'forms.db')
  await using store = new SqliteFormsStore(path)
  const counts = [10_000, 10_001, 10_002]
  const forms = await Promise.all(counts.map(() => givenForm(store)))
  using file = new DatabaseSync(path)
  for (const [index, count] of counts.entries()) {
    const { organizationId, formId } = forms[index]!
    file
      .prepare(
        `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
         INSERT INTO revisions SELECT formId || number, id, organizationId, number, number, 0, '', '', '{}'
         FROM numbers CROSS JOIN forms WHERE formId = ?`,
      )
      .run(count, formId)
    file.prepare('UPDATE forms SET revisionNumber = ? WHERE formId = ?').run(count, formId)
    const usage = 'UPDATE usage SET revisions = ?, revisionBytes = ? WHERE organizationId = ?'
    file.prepare(usage).run(count, 2 * count, organizationId)
  }
  const expected = [
    [forms[2], 10_002],
    [forms[1], 10_001],
  ] as const

  const found = await store.revisionGrowth.formsWithMany(10)

  expect(found).toEqual(
    expected.map(([form, revisions]) => ({
      organizationId: form!.organizationId,
      formId: form!.formId,
      publicId: form!.publicId,
      revisions,
    })),
  )
  expect(await store.revisionGrowth.formsWithMany(1)).toEqual(found.slice(0, 1))
  expect(await store.revisionGrowth.total()).toEqual({ revisions: 30_003, bytes: 60_006 })
})
