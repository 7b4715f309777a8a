import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { maxViolations } from '@fms/aip'
import { type Form, maxEventBytes, maxLiveKeys } from '@fms/contracts'
import { formBodyBytes, smallBodyBytes } from '@fms/service-kit'
import { beforeAll, describe, expect, it } from 'vitest'
import { GatewayConfig } from '../../services/gateway/src/config.ts'
import { sharedSystem } from '../shared-system.ts'
import type { Account } from '../system.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')

const system = await sharedSystem()

/** The blocks of shell commands, each with the heading above it. The first one sets the variables that the test sets. */
const [setting, ...blocks] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(({ 1: script, index }) => ({
  heading: [...page.slice(0, index).matchAll(/^#+ (.*)$/gm)].at(-1)![1]!,
  script: script!,
}))

describe('the examples of docs/api.md', () => {
  let statuses: string[][]

  beforeAll(async () => {
    statuses = await runInTurn(blocks.map(({ script }) => script))
  })

  it('begin with the base URL, the key and the organization', () => {
    expect(setting!.script.match(/^\w+(?==)/gm)).toEqual(['BASE_URL', 'API_KEY', 'ORG'])
  })

  it.each(blocks.map(({ heading, script }, index) => [`${index + 1}, ${heading}`, script, index] as const))(
    '%s',
    (_, script, index) => {
      expect(documentedStatuses(script)).not.toEqual([])
      expect(statuses[index]).toEqual(documentedStatuses(script))
    },
  )
})

/** The statuses in the comments of a block. */
const documentedStatuses = (script: string) =>
  [...script.matchAll(/^\s*# (\d{3})\b/gm)].map(([, status]) => status!)

/** Runs the blocks as one script in a new folder. @returns the HTTP statuses and curl errors of each block. */
const runInTurn = async (scripts: string[]): Promise<string[][]> => {
  const { apiKey, slug } = await system.account({ role: 'owner' })
  const folder = mkdtempSync(join(tmpdir(), 'docs-api-'))
  const script = [
    'set -eu',
    `curl() { command curl --write-out '%{stderr}%{http_code}\\n' "$@" 2>>statuses; }`,
    ...scripts.map((block) => `echo block >>statuses\n${block}`),
  ].join('\n')
  try {
    await promisify(execFile)('sh', ['-c', script], {
      cwd: folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        BASE_URL: system.baseUrl,
        API_KEY: apiKey,
        ORG: slug,
      },
    })
    const parts = readFileSync(join(folder, 'statuses'), 'utf8').split('block\n').slice(1)
    return parts.map((part) => part.split('\n').filter((line) => line !== ''))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('docs/api.md', () => {
  const samples = rowsUnder('| | Name | Type |')
  let account: Account

  const find = (filter: string) =>
    system.call(account, 'GET', `${account.forms}?filter=${encodeURIComponent(filter)}`)

  beforeAll(async () => {
    account = await system.account()
    for (const [, name, type] of samples) {
      const { status } = await system.call(account, 'POST', account.forms, { form: { name, type } })
      expect(status).toBe(200)
    }
  })

  it('lists every operation of the OpenAPI document, and no other', async () => {
    const response = await fetch(`${system.baseUrl}/openapi.json`)
    const { paths } = (await response.json()) as { paths: Record<string, object> }
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    const [, table] = /^\| Operation \| For \|\n(.*?)\n\n/ms.exec(page)!
    const listed = [...table!.matchAll(/`([A-Z]+ [^`]*)`/g)].map(([, operation]) =>
      operation!.replace('…', '/organizations/{organizationRef}'),
    )

    const isOfApi = (operation: string) => !/ \/(openapi|docs|console)/.test(operation)
    expect(listed.filter(isOfApi).sort()).toEqual(operations.filter(isOfApi).sort())
  })

  it('has the limits of the code', () => {
    const defaults = GatewayConfig.pick({
      RATE_LIMIT_PER_MINUTE: true,
      MAX_REQUESTS_PER_USER: true,
      MAX_REQUESTS_PER_ORGANIZATION: true,
    }).parse({})
    const limits = new Map(rowsUnder('| What | Limit |') as [string, string][])

    expect(limits.get('request body')).toContain(`${formBodyBytes / 2 ** 20} MiB where a form is sent`)
    expect(limits.get('request body')).toContain(`${smallBodyBytes / 2 ** 10} KiB elsewhere`)
    expect(limits.get('requests per minute')).toMatch(inText(defaults.RATE_LIMIT_PER_MINUTE))
    expect(limits.get('requests that wait or are under way')).toMatch(
      `${defaults.MAX_REQUESTS_PER_USER} of a user and ${defaults.MAX_REQUESTS_PER_ORGANIZATION} of an organization`,
    )
    expect(limits.get('violations in an error or a comparison')).toBe(inText(maxViolations))
    expect(limits.get('live keys of a user')).toMatch(inText(maxLiveKeys))
    expect(limits.get('an event; the response to a [comparison](#compare)')).toMatch(
      `${maxEventBytes / 2 ** 10} KiB`,
    )
  })

  it.each(rowsUnder('| Filter | Finds |'))('lists what the filter %s finds: %s', async (filter, numbers) => {
    const { body } = await find(filter!)

    expect(body.error).toBeUndefined()
    const found = samples.filter(([, name]) => body.forms.some((form: Form) => form.name === name))
    expect(found.map(([number]) => number).join(', ') || 'none').toBe(numbers)
    expect(body.totalSize).toBe(found.length)
  })

  it.each(rowsUnder('| Filter | Column |'))(
    'lists why the filter %s is invalid at column %s',
    async (filter, column, expected) => {
      const { status, body } = await find(filter!)

      expect(status).toBe(400)
      expect(body.error.details[0]).toMatchObject({
        reason: 'INVALID_FILTER',
        metadata: { column, expected },
      })
    },
  )
})

/** A number as the page writes it. */
const inText = (number: number) => number.toLocaleString('en-US')

/** The cells of the table with this head, without backticks. */
function rowsUnder(head: string): string[][] {
  const table = page.slice(page.indexOf(head)).split('\n\n', 1)[0]!
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
    )
}
