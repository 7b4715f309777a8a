import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpStatusOf, invalidRequest } from '@fms/aip'
import { ErrorBody, type Reason, reasons } from '@fms/contracts'
import { describe, expect, it } from 'vitest'

const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8')

describe('docs/errors.md', () => {
  it('has the HTTP codes of every status', () => {
    const section = page.split('\n## ').find((part) => part.startsWith('What to do, by status'))!
    const rows = [...section.matchAll(/^\| ([\d, ]+) \| `(\w+)` \|/gm)]
    const documented = rows.flatMap(([, codes, status]) =>
      codes!.split(', ').map((code) => `${status} ${code}`),
    )

    const pairs = Object.values<Reason>(reasons).map(
      ({ status, http }) => `${status} ${http ?? httpStatusOf[status]}`,
    )
    expect(documented.sort()).toEqual([...new Set(pairs)].sort())
  })

  it('shows an error as the code creates it', () => {
    const example = ErrorBody.parse(JSON.parse(/```json\n(.*?)```/s.exec(page)![1]!))
    const requestInfo = example.error.details.find((detail) => 'requestId' in detail)!

    expect(
      invalidRequest([{ field: 'form.nmae', description: 'is not a known field' }]).toBody(
        requestInfo.requestId,
      ),
    ).toEqual(example)
  })
})
