import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, Parser } from '@asyncapi/parser'
import * as contracts from '@fms/contracts'
import { FormPublished } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { buildAsyncApi, payloads } from './build-asyncapi.ts'

const problemsOf = async (document: unknown): Promise<string[]> =>
  (await new Parser().validate(document as string)).map(
    ({ path, message }: Diagnostic) => `${path.join('.')}: ${message}`,
  )

describe('docs/asyncapi.yaml', () => {
  it('is valid', async () => {
    const file = join(import.meta.dirname, '../../docs/asyncapi.yaml')
    expect(await problemsOf(readFileSync(file, 'utf8'))).toEqual([])
  })

  const damages: [string, (document: ReturnType<typeof buildAsyncApi>) => object][] = [
    ['a payload', ({ components }) => Object.assign(components.schemas.Event!, { type: 'thing' })],
    [
      'an operation',
      ({ operations }) => Object.assign(operations.sendFormEvent.channel, { $ref: '#/channels/none' }),
    ],
  ]

  it.each(damages)('would be invalid with a defect of %s', async (_, damage) => {
    const document = structuredClone(buildAsyncApi())
    damage(document)

    expect(await problemsOf(document)).not.toEqual([])
  })

  it('has every message of the contracts', () => {
    const isMessage = (contract: unknown) =>
      typeof contract === 'object' && !(contract instanceof z.ZodType) && 'encode' in contract!
    const names = Object.entries(contracts).flatMap(([name, contract]) => (isMessage(contract) ? [name] : []))

    expect(names).toContain('FormPublished')
    expect(names.filter((name) => !(name in payloads))).toEqual([])
  })

  it('has a channel for every subject of the streams', () => {
    const streams = [
      contracts.publishStream,
      contracts.deadLetterStream,
      contracts.repliesStream,
      contracts.eventsStream,
    ]
    const addresses = Object.values(buildAsyncApi().channels).map(({ address }) =>
      address?.replaceAll(/\{\w+\}/g, '*'),
    )

    const subjects = streams.flatMap(({ subjects }) => [...subjects])
    expect(subjects.filter((subject) => !addresses.includes(subject.replace('>', '*')))).toEqual([])
  })

  it('describes the first line of a reply', () => {
    const reply = { outcome: 'published', etag: '"1-x"', formJson: '{}' } as const
    const [line] = new TextDecoder().decode(FormPublished.encode(reply)).split('\n')

    expect(FormPublished.schema.parse(JSON.parse(line!))).toEqual({ outcome: 'published', etag: '"1-x"' })
  })
})
