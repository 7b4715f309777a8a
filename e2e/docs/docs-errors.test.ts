import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { httpStatusOf, invalidRequest } from '@fms/aip'
import { BreakingChange, ErrorBody, type Status } from '@fms/contracts'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')

/** One reason, as the page documents it or as the code creates it. */
interface Reason {
  /** Where the reason occurs: in HTTP responses, or in formctl. */
  audience: 'http' | 'formctl'
  reason: string
  http: number
  status: string
  metadata: string[]
  also: string[]
}

describe('docs/errors.md', () => {
  it('has exactly the reasons of the code, with HTTP code, status, metadata and details', () => {
    expect(byName(reasonsOfThePage())).toEqual(byName(reasonsOfTheCode()))
  })

  it('has each reason once', () => {
    const names = reasonsOfThePage().map(nameOf)

    expect(names).toEqual([...new Set(names)])
  })

  it('has exactly the types of violations that a publish reports', () => {
    const source = readFileSync(join(root, 'libs/drafts/src/publish-checks.ts'), 'utf8')
    const types = new Set([...source.matchAll(/\bviolation\(\s*'(\w+)'/g)].map(([, type]) => type!))

    expect(rowsOf('Violations of publish').map(([type]) => type)).toEqual([...types].sort())
  })

  it('has exactly the types of breaking changes', () => {
    expect(rowsOf('Violations of refuseBreaking').map(([type]) => type)).toEqual(
      [...BreakingChange.options].sort(),
    )
  })

  it('has the HTTP codes of every status', () => {
    const rows = rowsOf('What to do, by status')
    const documented = rows.flatMap(([codes, status]) =>
      codes!.split(', ').map((code) => `${status} ${code}`),
    )

    const pairs = reasonsOfTheCode().map(({ status, http }) => `${status} ${http}`)
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

const nameOf = ({ audience, reason }: Reason) => `${audience} ${reason}`
const byName = (reasons: Reason[]) => new Map(reasons.map((reason) => [nameOf(reason), reason]))

const reasonsOfThePage = (): Reason[] =>
  [
    ['Reasons of the API', 'http'] as const,
    ['Reasons of ports and probes', 'http'] as const,
    ['Reasons of formctl', 'formctl'] as const,
  ].flatMap(([heading, audience]) =>
    rowsOf(heading).map(([reason, http, status, , metadata, also]) => ({
      audience,
      reason: reason!,
      http: Number(http),
      status: status!,
      metadata: namesIn(metadata!),
      also: namesIn(also!),
    })),
  )

/** The rows of the tables in a section, without the heads of the tables. */
const rowsOf = (heading: string): string[][] => {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
  )
  return rows.slice(2)
}

const namesIn = (cell: string) => cell.match(/\w+/g)?.sort() ?? []

/** The reasons of every `new ApiError(` in the sources. A reason that is created in several files must be the same. */
const reasonsOfTheCode = (): Reason[] => {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root }).concat(
    globSync('formctl/src/**/*.ts', { cwd: root }),
  )
  const reasons = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => reasonsIn(readFileSync(join(root, file), 'utf8'), audienceOf(file)))
  const merged = new Map<string, Reason>()
  for (const reason of reasons) {
    const known = merged.get(nameOf(reason))
    expect({ ...reason, metadata: known?.metadata }).toEqual({
      ...(known ?? reason),
      metadata: known?.metadata,
    })
    const metadata = [...new Set([...(known?.metadata ?? []), ...reason.metadata])].sort()
    merged.set(nameOf(reason), { ...reason, metadata })
  }
  return [...merged.values()]
}

const audienceOf = (file: string) =>
  /^(libs\/directory-store\/src\/errors\.ts|formctl\/)/.test(file) ? 'formctl' : 'http'

const reasonsIn = (typed: string, audience: Reason['audience']): Reason[] => {
  if (!typed.includes('new ApiError(')) return []
  const source = stripTypeScriptTypes(typed)
  return [...source.matchAll(/\bnew ApiError\(/g)].flatMap(({ index }) => {
    const given = argumentsAt(source, source.indexOf('(', index))
    // ApiError.fromProblem rebuilds an error of another service.
    if (given.join() === 'status,reason,message,parts') return []
    return variantsOf(source, index, given).map((variant) => toReason(variant, audience))
  })
}

/** The given arguments. When they are parameters of the enclosing function: the arguments of each of its calls. */
const variantsOf = (source: string, index: number, given: string[]): string[][] => {
  if (isLiteral(given[1]) && !/\bmetadata\s*[,}]/.test(given[3] ?? '')) return [given]
  const [enclosing] = [...source.slice(0, index).matchAll(/\bconst (\w+) = \(/g)].slice(-1)
  const parameters = argumentsAt(source, source.indexOf('(', enclosing!.index)).map(
    (text) => text.split(/\s*=/)[0]!,
  )
  const calls = [...source.matchAll(new RegExp(`(?<!const )\\b${enclosing![1]}\\(`, 'g'))]
  return calls.map((call) => {
    const values = argumentsAt(source, source.indexOf('(', call.index))
    const passed = (name: string) => values[parameters.indexOf(name)]
    const parts = given[3]?.replace(/\bmetadata\b(?=\s*[,}])/, `metadata: ${passed('metadata') ?? '{}'}`)
    return [given[0]!, passed(given[1]!) ?? given[1]!, given[2]!, parts ?? '{}']
  })
}

const isLiteral = (text = '') => /^'\w+'$/.test(text)

const toReason = ([status, reason, , parts = '{}']: string[], audience: Reason['audience']): Reason => {
  if (!isLiteral(status) || !isLiteral(reason)) {
    throw new Error(`write status and reason as string literals for this test: ${status}, ${reason}`)
  }
  const members = membersOf(parts)
  const detailOf = {
    fieldViolations: 'BadRequest',
    preconditionViolations: 'PreconditionFailure',
    retryAfterSeconds: 'RetryInfo',
  }
  return {
    audience,
    reason: reason!.slice(1, -1),
    http: Number(members.get('http') ?? httpStatusOf[status!.slice(1, -1) as Status]),
    status: status!.slice(1, -1),
    metadata: [...membersOf(members.get('metadata') ?? '{}').keys()].sort(),
    also: Object.entries(detailOf).flatMap(([member, detail]) => (members.has(member) ? [detail] : [])),
  }
}

/** The members of an object literal, with their values as source text. */
const membersOf = (literal: string): Map<string, string> => {
  if (!literal.startsWith('{')) throw new Error(`write this as an object literal: ${literal}`)
  return new Map(
    argumentsAt(literal, 0).map((member) => {
      const [name = ''] = /^\w+/.exec(member) ?? []
      return [name, member.slice(name.length).replace(/^:\s*/, '')]
    }),
  )
}

/** The source between the bracket at `open` and its closing bracket, split at top-level commas. */
const argumentsAt = (source: string, open: number): string[] => {
  const found: string[] = []
  let depth = 0
  let start = open + 1
  for (let index = open; ; index++) {
    const char = source[index]
    if (char === undefined) throw new Error(`no closing bracket in: ${source.slice(open, open + 80)}`)
    if (char === "'" || char === '"' || char === '`') index = endOfString(source, index)
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    const isEnd = depth === 0
    if (isEnd || (char === ',' && depth === 1)) {
      found.push(source.slice(start, index).trim())
      start = index + 1
    }
    if (isEnd) return found.filter((text) => text !== '')
  }
}

/** Index of the closing quote of the string at `open`. A `${…}` of a template may contain strings. */
const endOfString = (source: string, open: number): number => {
  const quote = source[open]
  for (let index = open + 1; index < source.length; index++) {
    if (source[index] === '\\') index++
    else if (source[index] === quote) return index
    else if (quote === '`' && source.startsWith('${', index)) index = endOfSubstitution(source, index + 1)
  }
  return source.length
}

const endOfSubstitution = (source: string, open: number): number => {
  let depth = 0
  for (let index = open; index < source.length; index++) {
    const char = source[index]!
    if (char === "'" || char === '"' || char === '`') index = endOfString(source, index)
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return index
  }
  return source.length
}
